"""Agents that propose at the same time, each in a session of its own."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction

from executions.access.actor import Actor
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.workflows import default_workspace
from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.models import Proposal, ProposalKind
from valkyr_plugins.mcp.proposals import TooManyProposals


@pytest.fixture
def api(engine: None) -> InProcessApi:
    Proposal.objects.all().delete()
    users: Any = get_user_model()
    user, _ = users.objects.get_or_create(username="boss", is_superuser=True)
    return InProcessApi(user, None, Actor.of(user))


def propose(api: InProcessApi, name: str) -> Proposal:
    change = {"workspaceId": str(default_workspace().pk), "definition": {"name": name}}
    return proposals.propose(api, ProposalKind.WORKFLOW, change, "It is needed.")


def test_equal_calls_at_once_make_one_proposal(api: InProcessApi, rivals: Rivals) -> None:
    with transaction.atomic():
        first = propose(api, "one")
        second = rivals.begin(propose, api, "one")
        wait_until_blocked(my_session())

    assert second.result(60).pk == first.pk
    assert Proposal.objects.count() == 1


def test_calls_at_once_do_not_exceed_the_maximum(
    api: InProcessApi, rivals: Rivals, settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"MCP_OPEN_PROPOSALS": 1}
    with transaction.atomic():
        propose(api, "one")
        second = rivals.begin(propose, api, "another")
        wait_until_blocked(my_session())

    with pytest.raises(TooManyProposals):
        second.result(60)
    assert Proposal.objects.count() == 1
