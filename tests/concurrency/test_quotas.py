"""Hourly, daily and queue limits are never exceeded by concurrent starts."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import F

from executions import quotas
from executions.database.clock import database_now
from executions.errors import QuotaExceeded
from executions.models import (
    QuotaUse,
    WorkflowExecution,
)
from executions.tasks import prune_counts
from executions.triggers.start import start_batch
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.single_thread import World
from tests.support.start_limits import CLIENTS, at_once, executions, refusals, used, workspace_of
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
from valkyr_plugins.timetravel.fork import replay

ONE = {"tasks": [effect("one")]}


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
        second.result(60)
    assert executions(workflow) == 1


def test_a_start_that_is_undone_counts_nothing(queue: World) -> None:
    workspace = workspace_of(max_per_hour=5)
    workflow = publish(ONE, workspace)
    start(workflow)

    with transaction.atomic():
        start(workflow)
        transaction.set_rollback(True)
    with pytest.raises(QuotaExceeded, match="5 more executions were asked for"):
        start_batch(workflow, [{}] * 5, actor=ACTOR)

    assert used(workspace) == executions(workflow) == 1


def test_a_batch_that_never_fits_is_told_so(queue: World) -> None:
    workflow = publish(ONE, workspace_of(max_per_hour=5))

    with pytest.raises(QuotaExceeded, match="This number exceeds the limit: request at most 5"):
        start_batch(workflow, [{}] * 6, actor=ACTOR)


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
