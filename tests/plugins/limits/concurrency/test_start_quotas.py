"""Quotas on the starts of a workspace, or of one of its members, are never exceeded."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.errors import QuotaExceeded
from executions.triggers.start import start_execution
from tests.support.single_thread import World
from tests.support.start_limits import at_once, executions, refusals, somebody, used, workspace_of
from tests.support.windows import wait_for_a_long_hour
from tests.support.workflows import effect, publish, start, start_many
from valkyr_plugins.limits.models import Quota

ONE = {"tasks": [effect("one")]}


@pytest.fixture(autouse=True)
def _no_window_ends_meanwhile(engine: None) -> None:
    wait_for_a_long_hour(30)


def test_fifty_clients_of_the_api_start_exactly_as_many_as_a_quota_allows(queue: World) -> None:
    workspace = workspace_of()
    Quota.objects.create(workspace=workspace, max_per_hour=20)
    user, workflow = somebody(workspace, "ada"), publish(ONE, workspace)

    def ask(number: int) -> Any:
        client = APIClient()
        client.force_authenticate(user)
        address = f"/v1/WorkflowExecution/{workflow.pk}/execute"
        return client.post(address, {"params": {"n": number}}, format="json")

    answers = at_once(ask)

    assert sorted({answer.status_code for answer in answers}) == [202, 429]
    assert sum(answer.status_code == 202 for answer in answers) == 20
    assert executions(workflow) == 20
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 0 < int(refused["Retry-After"]) <= 3600
    problem = refused.json()
    assert problem["code"] == "quota_exceeded"
    assert "The quota of this workspace allows 20 executions per hour" in problem["detail"]
    assert (problem["limit"], problem["limitedBy"]) == (20, "The quota of this workspace")
    assert problem["resetAt"] > database_now().isoformat()


def test_a_principals_quota_limits_that_principal_alone(queue: World) -> None:
    workspace = workspace_of(max_per_day=40)
    ada, bob = (somebody(workspace, name) for name in ("ada", "bob"))
    Quota.objects.create(workspace=workspace, user=ada, max_per_hour=10)
    workflow = publish(ONE, workspace)

    results = at_once(
        lambda n: start_execution(workflow, {}, actor=Actor.of(ada if n % 2 else bob))
    )

    assert executions(workflow) == used(workspace, "day") == 35
    assert used(workspace, user=ada) == 10
    assert {error.facts["limitedBy"] for error in refusals(results)} == {
        "Your quota in this workspace"
    }


def test_the_tighter_of_tier_and_quota_holds(queue: World) -> None:
    workspace = workspace_of(max_per_hour=5)
    Quota.objects.create(workspace=workspace, max_per_hour=2)
    workflow = publish(ONE, workspace)
    start_many(workflow, [{}] * 2)

    with pytest.raises(QuotaExceeded, match="quota of this workspace allows 2"):
        start(workflow)
