"""Limits by the hour, by the day, and on what waits: never exceeded, whoever comes at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F
from rest_framework.test import APIClient

from executions import quotas
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.errors import QuotaExceeded
from executions.models import (
    Membership,
    Quota,
    QuotaUse,
    Tier,
    Workflow,
    WorkflowExecution,
    Workspace,
)
from executions.tasks import prune_counts
from executions.triggers.start import start_batch, start_execution
from runners.time_travel.replay import replay
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.simulation import World
from tests.support.windows import wait_for_a_long_hour
from tests.support.workflows import (
    ACTOR,
    effect,
    limited_workspace,
    publish,
    start,
    start_many,
    task,
)

ONE = {"tasks": [effect("one")]}
CLIENTS = 50


def workspace_of(**limits: int) -> Workspace:
    """A workspace whose tier has these limits and no others."""
    made = limited_workspace(1)
    Tier.objects.filter(pk=made.tier_id).update(max_concurrent=None)
    Tier.objects.filter(pk=made.tier_id).update(**limits)
    return made


def somebody(workspace: Workspace, name: str) -> Any:
    user = get_user_model().objects.create_user(f"{name}-{workspace.slug}")
    Membership.objects.create(user=user, workspace=workspace, role="WORKFLOW")
    return user


def used(workspace: Workspace, window: str = "hour", user: Any = None) -> int:
    row = QuotaUse.objects.get(workspace=workspace, window=window, user_id=user and user.pk)
    return row.used


def executions(workflow: Workflow) -> int:
    return WorkflowExecution.objects.filter(workflow=workflow).count()


def at_once(act: Callable[[int], Any], clients: int = CLIENTS) -> list[Any]:
    """What each of so many clients got, a QuotaExceeded among it."""

    def tried(number: int) -> Any:
        try:
            return act(number)
        except QuotaExceeded as error:
            return error

    with Rivals(clients) as rivals:
        futures = [rivals.begin(tried, number) for number in range(clients)]
        return [future.result(60) for future in futures]


def refusals(results: list[Any]) -> list[QuotaExceeded]:
    return [result for result in results if isinstance(result, QuotaExceeded)]


@pytest.fixture(autouse=True)
def _no_window_ends_meanwhile(engine: None) -> None:
    wait_for_a_long_hour(30)


@pytest.mark.parametrize(("limit", "window"), [("max_per_hour", "hour"), ("max_per_day", "day")])
def test_fifty_clients_start_exactly_as_many_as_the_tier_allows(
    queue: World, limit: str, window: str
) -> None:
    workspace = workspace_of(**{limit: 20})
    workflow = publish(ONE, workspace)

    results = at_once(lambda _: start(workflow))

    assert len(refusals(results)) == CLIENTS - 20
    assert executions(workflow) == used(workspace, window) == 20


def test_batches_count_each_of_their_executions_all_or_none(queue: World) -> None:
    workspace = workspace_of(max_per_hour=100)
    workflow = publish(ONE, workspace)

    results = at_once(lambda number: start_many(workflow, [{}] * (number % 7 + 1)))

    made = sum(len(result) for result in results if isinstance(result, list))
    assert refusals(results)
    assert executions(workflow) == used(workspace) == made <= 100
    assert made > 100 - 7


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


def test_never_more_wait_than_may_whatever_comes_at_once(queue: World) -> None:
    workspace = limited_workspace(3, waiting=20)
    workflow = publish(ONE, workspace)

    at_once(lambda n: start_many(workflow, [{}] * (n % 5 + 1)) if n % 2 else start(workflow))

    states = WorkflowExecution.objects.filter(workflow=workflow).values_list("state", flat=True)
    found = list(states)
    assert found.count("RUNNING") == 3
    assert 16 <= found.count("PENDING") <= 20


def test_a_client_waits_for_one_that_counts_and_then_sees_its_count(
    queue: World, rivals: Rivals
) -> None:
    workspace = workspace_of(max_per_hour=1)
    workflow = publish(ONE, workspace)

    with transaction.atomic():
        start(workflow)
        second = rivals.begin(start, workflow)
        wait_until_blocked(my_session())

    with pytest.raises(QuotaExceeded):
        second.result(10)
    assert executions(workflow) == 1


def test_a_start_that_is_undone_counts_nothing(queue: World) -> None:
    workspace = workspace_of(max_per_hour=5)
    workflow = publish(ONE, workspace)
    start(workflow)

    with transaction.atomic():
        start(workflow)
        transaction.set_rollback(True)
    with pytest.raises(QuotaExceeded, match="5 more were asked for"):
        start_batch(workflow, [{}] * 5, actor=ACTOR)

    assert used(workspace) == executions(workflow) == 1


def test_a_batch_that_never_fits_is_told_so(queue: World) -> None:
    workflow = publish(ONE, workspace_of(max_per_hour=5))

    with pytest.raises(QuotaExceeded, match="So many never fit: ask for 5 at most"):
        start_batch(workflow, [{}] * 6, actor=ACTOR)


def test_the_tighter_of_tier_and_quota_holds(queue: World) -> None:
    workspace = workspace_of(max_per_hour=5)
    Quota.objects.create(workspace=workspace, max_per_hour=2)
    workflow = publish(ONE, workspace)
    start_many(workflow, [{}] * 2)

    with pytest.raises(QuotaExceeded, match="quota of this workspace allows 2"):
        start(workflow)


def test_the_error_of_the_longest_window_says_when_to_try_again(queue: World) -> None:
    workflow = publish(ONE, workspace_of(max_per_hour=1, max_per_day=1))
    start(workflow)

    with pytest.raises(QuotaExceeded, match="per day") as caught:
        start(workflow)

    tomorrow = database_now().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(1)
    seconds = (tomorrow - database_now()).total_seconds()
    assert caught.value.retry_after == pytest.approx(seconds, abs=5)


def test_the_next_window_begins_at_nothing(queue: World) -> None:
    workspace = workspace_of(max_per_hour=1)
    workflow = publish(ONE, workspace)
    start(workflow)
    uses = QuotaUse.objects.filter(workspace=workspace)
    uses.update(starts_at=F("starts_at") - timedelta(hours=1))

    start(workflow)

    assert list(uses.values_list("used", flat=True)) == [1, 1]


def test_replays_are_counted_and_children_are_not(queue: World) -> None:
    workspace = workspace_of(max_per_hour=10)
    child = publish({"tasks": [task("one", "flow.noop")]}, workspace)
    inputs = {"with": {"workflow": child.slug}}
    parent = publish({"tasks": [task("call", "flow.subworkflow", **inputs)]}, workspace)

    first = start(parent)
    queue.drain()
    replay(first, actor=ACTOR)
    queue.drain()

    assert executions(child) == 2
    assert used(workspace) == 2


def test_a_repeated_start_with_its_key_counts_once(queue: World) -> None:
    workspace = workspace_of(max_per_hour=10)
    workflow = publish(ONE, workspace)

    results = at_once(lambda _: start(workflow, idempotency_key="once"), 10)

    assert len(set(results)) == 1
    assert used(workspace) == 1


def test_a_workspace_without_limits_counts_nothing(queue: World) -> None:
    workflow = publish(ONE)

    start(workflow)

    assert quotas.ceilings(workflow.workspace_id, 7).limits == ()
    assert not QuotaUse.objects.filter(workspace=workflow.workspace).exists()


def test_counters_older_than_two_days_are_pruned(queue: World) -> None:
    workspace = workspace_of(max_per_hour=10)
    start(publish(ONE, workspace))
    QuotaUse.objects.filter(workspace=workspace).update(
        starts_at=F("starts_at") - timedelta(days=2, hours=1)
    )
    start(publish(ONE, workspace))

    assert prune_counts() == 1
    assert used(workspace) == 1
