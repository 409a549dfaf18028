"""Fixtures: users of the API over HTTP, as in the tests of the engine's API, and agents."""

from collections.abc import Callable
from typing import Any

import pytest

from executions.access.actor import Actor
from executions.accounts.tokens import create_token
from executions.models import Workspace
from tests.support.api_users import *  # noqa: F403

from .agents import Agent


@pytest.fixture
def agent(workspace: Workspace, member: Callable[..., Any]) -> Callable[..., Agent]:
    """Return a function that creates an agent with a token of these scopes; its user has the role
    ADMIN by default.
    """

    def made(*scopes: str, role: str = "ADMIN", place: Workspace | None = None) -> Agent:
        user = member(role, place or workspace)
        _, text = create_token(
            place or workspace,
            user,
            name="agent",
            maker=user,
            actor=Actor.of(user),
            scopes=scopes or ("view", "view_payloads"),
        )
        return Agent(text)

    return made
