"""Fixtures: real workers, beat and a web process on the tests' database."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from executions.access.actor import Actor
from executions.accounts.tokens import create_token
from executions.models import Membership
from tests.support.engine_database import engine_database
from tests.support.fleet import Fleet, redis_of_a_fleet
from tests.support.web import web_process
from tests.support.workflows import default_workspace


@dataclass(frozen=True)
class Operated:
    """A running installation: its address, an operator, and a token with only the scope for
    viewing.
    """

    address: str
    operator: Any
    token: str


@pytest.fixture(scope="module")
def operated(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Operated]:
    folder = tmp_path_factory.mktemp("operated")
    with engine_database(django_db_blocker), redis_of_a_fleet() as server:
        workspace = default_workspace()
        users: Any = get_user_model()
        operator = users.objects.create_user("operator", is_staff=True)
        Membership.objects.create(user=operator, workspace=workspace, role="ADMIN")
        _, token = create_token(
            workspace,
            operator,
            name="repair agent",
            maker=operator,
            actor=Actor.of(operator),
            scopes=["view", "view_payloads"],
        )
        fleet = Fleet(folder, server.url)
        fleet.worker("control", "control", "threads", 2)
        fleet.worker("default", "default", "threads", 4)
        fleet.beat()
        with fleet.running(), web_process(folder / "web.log", REDIS_URL=server.url) as address:
            yield Operated(address, operator, token)
