"""Explanations of real executions with maps, children and events, in few queries."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from executions import lifecycle
from executions.models import WorkflowExecution
from runners import statements
from runners.explain.explanation import MAX_RUNS, Explained, Explanation, explain
from tests.support import modules
from tests.support.segments import run_of
from tests.support.single_thread import World, world
from tests.support.workflows import ACTOR, effect, publish, start, task

pytestmark = pytest.mark.django_db(transaction=True)
MOST_QUERIES = 16


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    modules.install()
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as made:
        yield made
    modules.forget()


def explained(execution_id: UUID) -> Explanation:
    """Explain an execution, in a number of queries that does not depend on its rows."""
    row = WorkflowExecution.objects.get(pk=execution_id)
    with CaptureQueriesContext(connection) as seen:
        found = explain(row)
    assert len(seen) <= MOST_QUERIES
    return found


def by_path(found: Explanation) -> dict[str, Explained]:
    return {step.path: step for step in found.steps}


def each(items: int, body: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
    inputs = {"items": list(range(items)), **given}
    return task("all", "flow.map", **{"with": inputs}, body={"tasks": body})


def test_a_map_is_counted_by_its_bodies_and_explained_item_by_item(queue: World) -> None:
    body = [effect("a"), effect("b", after="a")]
    execution = start(publish({"tasks": [each(100, body, maxConcurrency=30), effect("z", "all")]}))
    while run_of(execution, "all.main").state != "WAITING":
        queue.turn()
    found = explained(execution)
    steps = by_path(found)
    assert steps["all.main"].reason.code == "waiting_for_body"
    assert steps["all.main"].reason.details["total"] == 100
    assert steps["z"].reason.details["tasks"] == ["all"]
    assert steps["all[3].b"].reason.details["tasks"] == ["all[3].a"]
    assert sum(count.runs for count in found.containers) == 30
    assert {count.container for count in found.containers} == {"all"}
    assert found.more, "only so many bodies' tasks are looked at"


def test_of_very_many_runs_the_first_are_explained_and_all_are_counted(queue: World) -> None:
    wide = each(MAX_RUNS + 100, [effect("a")], maxConcurrency=MAX_RUNS + 100)
    execution = start(publish({"tasks": [wide]}))
    while run_of(execution, "all.main").state != "WAITING":
        queue.turn()
    found = explained(execution)
    assert len([step for step in found.steps if step.run_id]) == MAX_RUNS
    assert found.steps[0].path == "all.main", "the workflow's own steps come first"
    assert sum(count.runs for count in found.containers) == MAX_RUNS + 100
    assert found.more


def test_a_child_is_named_with_its_state(queue: World) -> None:
    child = publish({"tasks": [effect("a")]})
    call = task("call", "flow.subworkflow", **{"with": {"workflow": child.slug}})
    execution = start(publish({"tasks": [call]}))
    while not WorkflowExecution.objects.filter(parent_id=execution).exists():
        queue.turn()
    reason = by_path(explained(execution))["call.main"].reason
    made = WorkflowExecution.objects.get(parent_id=execution)
    assert reason.code == "waiting_for_child"
    assert reason.details == {
        "executionId": str(made.pk), "workflow": child.slug, "state": "RUNNING",
    }  # fmt: skip
    assert reason.since is not None


def test_an_events_filter_is_shown_as_it_was_written(queue: World) -> None:
    wanted = {"event": "paid", "filter": "{{ event.order == input.order }}", "timeoutSeconds": 60}
    wait = task("wait", "flow.wait_for_event", **{"with": wanted})
    execution = start(publish({"tasks": [wait]}), {"order": 7})
    queue.drain()
    reason = by_path(explained(execution))["wait.main"].reason
    assert reason.code == "waiting_for_event"
    assert reason.details == {"event": "paid", "filter": wanted["filter"]}
    assert reason.since
    assert reason.until


def test_a_retry_of_real_failures_knows_its_number_and_the_last_error(queue: World) -> None:
    execution = start(publish({"tasks": [effect("a", failTimes=9)]}))
    queue.drain()
    reason = by_path(explained(execution))["a.main"].reason
    assert reason.code == "retry_due"
    assert reason.details["attempt"] == 2
    assert reason.details["maxAttempts"] == 3
    assert "try 1 fails" in reason.details["error"]


def test_of_a_dead_item_the_step_the_rest_and_the_container_are_explained(queue: World) -> None:
    dies = effect("a", failTimes=9, errorType="PERMANENT", retry="none")
    body = [dies, effect("b", after="a")]
    execution = start(publish({"tasks": [each(3, body, maxConcurrency=1)]}))
    queue.drain()
    found = explained(execution)
    codes = {path: step.reason.code for path, step in by_path(found).items()}
    assert found.reason.code == "finished"
    assert codes == {
        "all.main": "waiting_for_body",
        "all[0].a.main": "dead_letter",
        "all[0].b": "blocked_by_dead_step",
    }


def test_a_large_workflow_takes_no_more_queries_than_a_small_one(queue: World) -> None:
    tasks = [effect("t0"), *(effect(f"t{n}", after=f"t{n - 1}") for n in range(1, 1_000))]
    execution = start(publish({"tasks": tasks}))
    found = explained(execution)
    assert len(found.steps) == 501
    assert found.more


def test_the_backlog_is_counted_by_the_index_of_what_is_due(queue: World) -> None:
    start(publish({"tasks": [effect("a")]}))
    with connection.cursor() as cursor:
        # With few rows any index and a sort cost almost nothing; without a sort, one plan is left.
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET enable_sort = off")
        cursor.execute(
            f"EXPLAIN {statements.statement('count_runs_sent_before')}",
            {"execution": UUID(int=0), "queues": ["default"], "times": ["now"], "most": 10},
        )
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("RESET enable_seqscan")
        cursor.execute("RESET enable_sort")
    assert "run_due" in plan
    assert "Limit" in plan


def test_the_executions_page_says_why_it_is_not_running(
    queue: World, static_files: None, admin_client: Any
) -> None:
    later = {"maxAttempts": 3, "baseSeconds": 600}
    document = {"tasks": [effect("a", failTimes=9, retry=later), effect("b", after="a")]}
    execution = start(publish(document))
    queue.drain()
    address = reverse("admin:executions_workflowexecution_change", args=[execution])
    page = admin_client.get(address).content.decode()
    assert "Why is it not running?" in page
    assert "It is running." in page
    assert "Attempt 2 of 3 is due at" in page
    assert "It waits for a." in page
    lifecycle.cancel(execution, actor=ACTOR)
    assert "Why is it not running?" not in admin_client.get(address).content.decode()
