"""An execution's runs on the time axis over HTTP: bodies, waits, children, undone steps."""

from random import Random
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from rest_framework.test import APIClient

from executions.models import WorkflowExecution
from runners.models import Run
from runners.waits.wake_runs import wake
from tests.support import admin_rows as rows
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import world
from tests.support.workflows import publish, start, task

pytestmark = pytest.mark.django_db
BAR = {
    "id", "stepPath", "place", "taskId", "module", "container", "attempt", "state", "queuedAt",
    "startedAt", "finishedAt", "durationMs", "outcome", "errorType", "waitsFor", "waitedMs",
    "waitsUntil", "progress", "childExecutionId", "cachedFrom", "superseded",
}  # fmt: skip
ITERATIONS = {"with": {"count": 2}, "body": {"tasks": [task("draft")]}}
ITEMS = {"with": {"items": [5, 6]}, "body": {"tasks": [task("refine", "flow.loop", **ITERATIONS)]}}


@pytest.fixture
def nested(monkeypatch: pytest.MonkeyPatch) -> UUID:
    """Return a finished execution: a map of two items, each with a loop of two iterations."""
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as engine:
        pk = start(publish({"tasks": [task("batch", "flow.map", **ITEMS)]}))
        engine.drain()
    assert WorkflowExecution.objects.get(pk=pk).state == "SUCCESS"
    return pk


def bars(client: APIClient, execution: Any, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/v1/WorkflowExecution/{execution}/timeline{query}")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()
    return found


def paths(found: list[dict[str, Any]]) -> list[str]:
    return sorted(bar["stepPath"] for bar in found)


def test_the_timeline_has_a_bar_for_every_attempt(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    made = author.post(
        f"/v1/WorkflowExecution/{greeting['id']}/execute", {"params": {"name": "a"}}, format="json"
    ).json()
    (bar,) = bars(author, made["id"])

    assert set(bar) == BAR
    assert (bar["stepPath"], bar["place"], bar["container"]) == ("greet.main", "", "")
    assert bar["taskId"] == str(Run.objects.get().task_id)
    assert (bar["waitsFor"], bar["waitedMs"], bar["progress"]) == ("", None, None)


@pytest.mark.django_db(transaction=True)
def test_steps_of_bodies_have_the_place_they_ran_in(author: APIClient, nested: UUID) -> None:
    found = {bar["stepPath"]: bar for bar in bars(author, nested)}

    assert sorted(found) == [
        "batch.main",
        "batch[0].refine.main",
        "batch[0].refine[0].draft.main",
        "batch[0].refine[1].draft.main",
        "batch[1].refine.main",
        "batch[1].refine[0].draft.main",
        "batch[1].refine[1].draft.main",
    ]
    assert found["batch[1].refine[0].draft.main"]["place"] == "batch[1].refine[0]."
    assert found["batch[1].refine.main"]["place"] == "batch[1]."
    assert found["batch[0].refine[0].draft.main"]["container"] == ""


@pytest.mark.django_db(transaction=True)
def test_containers_say_how_far_they_are(author: APIClient, nested: UUID) -> None:
    found = {bar["stepPath"]: bar for bar in bars(author, nested)}
    items, loop = found["batch.main"], found["batch[0].refine.main"]

    assert (items["container"], items["waitsFor"]) == ("map", "body")
    assert items["progress"] == {"total": 2, "done": 2, "open": 0, "failedItem": None}
    assert (loop["container"], loop["waitsFor"]) == ("loop", "body")
    assert loop["progress"] == {"iteration": 2, "count": 2, "most": None}
    assert items["waitedMs"] > loop["waitedMs"] > 0


@pytest.mark.django_db(transaction=True)
def test_one_turn_is_opened_at_a_time(author: APIClient, nested: UUID) -> None:
    place = quote("batch[1].")

    assert paths(bars(author, nested, "?nested=false")) == ["batch.main"]
    assert paths(bars(author, nested, f"?place={place}&nested=false")) == ["batch[1].refine.main"]
    assert paths(bars(author, nested, f"?place={place}")) == [
        "batch[1].refine.main",
        "batch[1].refine[0].draft.main",
        "batch[1].refine[1].draft.main",
    ]
    assert bars(author, nested, "?place=batch%5B7%5D.") == []
    assert bars(author, nested, "?place=b_tch%25") == []


@pytest.mark.django_db(transaction=True)
def test_a_turn_comes_in_pages_as_everything_does(author: APIClient, nested: UUID) -> None:
    address = f"/v1/WorkflowExecution/{nested}/timeline?place=batch%5B0%5D.&limit=2"
    first = author.get(address)
    rest = author.get(first["Link"].partition(">")[0].removeprefix("<"))

    assert [len(first.json()), len(rest.json())] == [2, 1]
    assert paths([*first.json(), *rest.json()]) == paths(bars(author, nested, "?place=batch[0]."))


def test_a_wait_says_for_what_until_when_and_how_long(author: APIClient) -> None:
    ask = {"title": "Refund?", "expiresSeconds": 3600}
    pk = start(publish({"tasks": [task("ask", "flow.approval", **{"with": ask})]}))
    recorded(claimed(pk, "ask.main"))
    (asleep,) = bars(author, pk)
    run = run_of(pk, "ask.main")
    told = {"by": "person", "decision": "approved", "comment": "", "actor": "a", "at": "now"}
    wake(run.pk, "approval", told)  # type: ignore[arg-type]
    (woken,) = bars(author, pk)
    recorded(claimed(pk, "ask.main"))
    (ended,) = bars(author, pk)

    assert (asleep["state"], asleep["waitsFor"]) == ("WAITING", "approval")
    assert asleep["waitsUntil"] == run.due_at.isoformat().replace("+00:00", "Z")
    assert asleep["waitedMs"] >= 0
    assert (woken["state"], woken["waitsUntil"]) == ("PENDING", None)
    assert (ended["state"], ended["waitsFor"]) == ("SUCCESS", "approval")
    assert ended["startedAt"] == asleep["startedAt"]
    assert ended["waitedMs"] == woken["waitedMs"] >= asleep["waitedMs"] > 0
    full = author.get(f"/v1/Run/{run.pk}").json()
    assert full["progress"]["title"] == "Refund?"
    assert full["wake"]["decision"] == "approved"


@pytest.mark.parametrize("wait", [True, False])
def test_a_call_of_a_workflow_names_its_child(author: APIClient, wait: bool) -> None:
    child = publish({"tasks": [task("a", "flow.approval", **{"with": {"title": "?"}})]})
    given = {"workflow": child.slug, "wait": wait}
    call = task("call", "flow.subworkflow", **{"with": given})
    pk = start(publish({"tasks": [call, task("other")]}))
    recorded(claimed(pk, "call.main"))

    found = {bar["stepPath"]: bar for bar in bars(author, pk)}

    started = WorkflowExecution.objects.get(parent_id=pk)
    assert found["call.main"]["childExecutionId"] == str(started.pk)
    assert found["other.main"]["childExecutionId"] is None


def test_runs_are_listed_by_place(author: APIClient, greeting: Any) -> None:
    execution = rows.execution(rows.workflow())
    for path in ("refine[2].draft.main", "refine[20].draft.main", "other.main"):
        rows.run(execution, path, "SUCCESS")
    own = f"/v1/Run?executionId={execution.pk}&place="

    assert paths(author.get(f"{own}refine[2]").json()) == ["refine[2].draft.main"]
    assert len(author.get(f"{own}refine[").json()) == 2
    assert author.get(f"{own}ref_ne").json() == []
    assert author.get("/v1/Run?place=refine[2]").status_code == 422
    assert author.get(f"{own}%00").status_code == 422


def test_what_was_rolled_back_is_shown_on_demand(author: APIClient, greeting: Any) -> None:
    execution = rows.execution(rows.workflow())
    rows.run(execution, "reserve.main", "SUCCESS", superseded=True)
    rows.run(execution, "reserve.main", "SUCCESS", epoch=1)

    (shown,) = bars(author, execution.pk)
    both = bars(author, execution.pk, "?superseded=true")

    assert shown["superseded"] is False
    assert sorted(bar["superseded"] for bar in both) == [False, True]


def test_a_reused_result_names_the_run_that_made_it(author: APIClient, greeting: Any) -> None:
    execution = rows.execution(rows.workflow())
    first = rows.run(execution, "reserve.main", "SUCCESS")
    again = rows.run(execution, "charge.main", "SUCCESS", cached_from=first.pk)

    found = {bar["id"]: bar["cachedFrom"] for bar in bars(author, execution.pk)}

    assert found == {str(first.pk): None, str(again.pk): str(first.pk)}


def test_many_bars_cost_few_queries(
    author: APIClient, greeting: Any, django_assert_max_num_queries: Any
) -> None:
    execution = rows.execution(rows.workflow())
    for index in range(50):
        rows.run(execution, f"batch[{index}].call.main", "SUCCESS", module="flow.subworkflow")

    with django_assert_max_num_queries(5):
        assert len(bars(author, execution.pk)) == 50


@pytest.mark.parametrize(
    "query", ["place=%00", f"place={'a' * 1001}", "nested=perhaps", "superseded=2", "turn=1"]
)
def test_an_odd_question_is_refused(author: APIClient, greeting: Any, query: str) -> None:
    execution = rows.execution(rows.workflow())

    answer = author.get(f"/v1/WorkflowExecution/{execution.pk}/timeline?{query}")

    assert answer.status_code == 422
