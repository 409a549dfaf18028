"""The plan from the rows of an execution: runs that start, items that end, and the execution's
end.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from django.db import transaction

from executions.database.ids import uuid7
from executions.definition.graph.places import Place
from executions.definition.graph.plan import StepFact, StepStatus
from executions.definition.templating import render_guard
from executions.models import WorkflowExecution
from runners.models import Run
from runners.planning import finish, plan_execution, plan_from_rows
from tests.support.compiled import graph_of
from tests.support.planned import FLOW, TWO, Begin, Row, begin, rows_of, sent, state_at
from tests.support.single_thread import World
from tests.support.workflows import effect

__all__ = ["begin"]

LIVE, DONE = StepFact(StepStatus.LIVE), StepFact(StepStatus.DONE, "success")
DEAD, OVER = StepFact(StepStatus.DEAD), StepFact(StepStatus.FAILED_OVER)
# The rows, those of which there are more then, the execution's state, and its error.
PLANS: dict[str, tuple[Any, Mapping[str, Row], Mapping[str, str], str, str]] = {
    "nothing has begun": (FLOW, {}, {"a.main": "PENDING"}, "RUNNING", ""),
    "a step is live": (FLOW, {"a.main": "RUNNING"}, {}, "RUNNING", ""),
    "a step waits": (
        FLOW, {"a.main": ("WAITING", {"waits_for": "timer"})}, {}, "RUNNING", ""),
    "a step ended": (
        FLOW, {"a.main": "SUCCESS"}, {"b.main": "PENDING", "rescue.one": "SKIPPED"}, "RUNNING", ""),
    "an error edge": (
        FLOW, {"a.main": ("FAILED", {"outcome": "error"})},
        {"b.main": "SKIPPED", "rescue.one": "PENDING"}, "RUNNING", ""),
    "the middle of a task": (
        FLOW, {"a.main": ("FAILED", {"outcome": "error"}), "b.main": "SKIPPED",
               "rescue.one": "SUCCESS"},
        {"rescue.two": "PENDING"}, "RUNNING", ""),
    "a join waits for a live step": (
        TWO, {"a.main": "SUCCESS", "b.main": "LEASED"}, {}, "RUNNING", ""),
    "all ended": (
        FLOW, {"a.main": "SUCCESS", "b.main": "SUCCESS", "rescue.one": "SKIPPED"}, {},
        "SUCCESS", ""),
    "a dead step": (
        TWO, {"a.main": "SUCCESS", "b.main": ("DLQ", {"error": "no stock"})}, {}, "FAILED",
        "Step b.main failed permanently: no stock"),
    "two dead steps": (
        TWO, {"a.main": ("DLQ", {"error": "no stock"}), "b.main": ("DLQ", {"error": "no more"})},
        {}, "FAILED", "Step a.main failed permanently (and 1 more): no stock"),
    "a dead step beside a live one": (
        TWO, {"a.main": ("DLQ", {"error": "no stock"}), "b.main": "PENDING"}, {}, "RUNNING", ""),
    "a cancelled step": (FLOW, {"a.main": "CANCELLED"}, {"a.main": "PENDING"}, "RUNNING", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", PLANS)
def test_an_execution_is_planned_from_its_rows(queue: World, begin: Begin, case: str) -> None:
    document, rows, more, state, error = PLANS[case]
    execution = begin(document, rows)
    before = Run.objects.filter(execution_id=execution).count()

    moved = plan_execution.catch_up(execution)

    begun = {path for path, found in more.items() if found == "PENDING"}
    assert moved is bool(begun or state != "RUNNING")
    known = {path: row if isinstance(row, str) else row[0] for path, row in rows.items()}
    assert Run.objects.filter(execution_id=execution).count() == before + len(more)
    if "CANCELLED" not in known.values():
        assert rows_of(execution) == {**known, **more}
    assert sent(queue, execution) == begun
    row = WorkflowExecution.objects.get(pk=execution)
    assert (row.state, row.error_message) == (state, error)


PLACE = Place("", graph_of(FLOW))
FACTS: list[tuple[list[tuple[str, str, str]], dict[str, StepFact]]] = [
    *[([("a.main", state, "")], {"a.main": LIVE})
      for state in ("PENDING", "LEASED", "RUNNING", "WAITING")],
    ([("a.main", "SUCCESS", "success")], {"a.main": DONE}),
    ([("a.main", "SKIPPED", "")], {"a.main": StepFact(StepStatus.SKIPPED)}),
    ([("a.main", "FAILED", "error")], {"a.main": OVER}),
    ([("a.main", "FAILED", "")], {}),
    ([("a.main", "CANCELLED", "error")], {}),
    ([("a.main", "DLQ", "error")], {"a.main": DEAD}),
    ([("unknown.main", "SUCCESS", ""), ("each[2].a.main", "DLQ", "")], {"a.main": DEAD}),
    ([("a.main", "PENDING", ""), ("a.main", "DLQ", "")], {"a.main": LIVE}),
    ([("a.main", "SUCCESS", "success"), ("a.main", "FAILED", "error")], {"a.main": DONE}),
    ([("a.main", "DLQ", ""), ("b.main", "RUNNING", "")], {"a.main": DEAD, "b.main": LIVE}),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "facts"), FACTS)
def test_the_state_of_a_step_is_that_of_its_row(
    rows: list[tuple[str, str, str]], facts: dict[str, StepFact]
) -> None:
    by_path = PLACE.graph.by_path
    found = plan_from_rows.facts_of(PLACE.graph, rows)
    assert found == {by_path[path]: fact for path, fact in facts.items()}


def test_a_paused_execution_goes_on_but_does_not_end(queue: World, begin: Begin) -> None:
    ended = {"a.main": "SUCCESS", "b.main": "SUCCESS", "rescue.one": "SKIPPED"}
    for rows in (ended, {"a.main": ("DLQ", {})}):
        execution = begin(FLOW, rows, state="PAUSED")
        assert not plan_execution.catch_up(execution)
        assert WorkflowExecution.objects.get(pk=execution).state == "PAUSED"
    assert plan_execution.catch_up(begin(FLOW, {"a.main": "SUCCESS"}, state="PAUSED"))


@pytest.mark.parametrize("plan", [plan_execution.advance, plan_execution.catch_up])
def test_an_execution_that_is_over_is_not_planned(begin: Begin, plan: Any) -> None:
    execution = begin(FLOW, {}, state="PENDING")
    assert plan(execution) is False
    plan_execution.wake(execution)
    assert plan(uuid7()) is False
    assert rows_of(execution) == {}
    WorkflowExecution.objects.filter(pk=execution).update(state="RUNNING")
    assert plan(execution) is True
    assert plan(execution) is (plan is plan_execution.advance)


def test_an_execution_that_wakes_sends_what_is_due_and_plans_the_rest(
    queue: World, begin: Begin
) -> None:
    execution = begin(TWO, {"a.main": "PENDING"})
    plan_execution.wake(execution)
    assert sent(queue, execution) == {"a.main", "b.main"}


WHOLE = {"a.main": "SUCCESS"}
OUTPUTS: list[tuple[Any, Mapping[str, Any], Any]] = [
    (None, {}, None),
    ("constant", {}, "constant"),
    ("{{ input.city }}", {}, "Bonn"),
    ("{{ vars.count }}", {"variables": {"count": 3}}, 3),
    ("{{ tasks.a.output }}", {}, 7),
    ("{{ execution.attempt }}", {}, 1),
]


@pytest.mark.parametrize(("output", "more", "value"), OUTPUTS)
def test_the_output_is_made_from_the_rows(
    begin: Begin, output: Any, more: Mapping[str, Any], value: Any
) -> None:
    document = {"tasks": [effect("a")], **more}
    execution = begin(
        document if output is None else {**document, "output": output},
        {"a.main": ("SUCCESS", {"outputs": 7})},
    )
    assert plan_execution.catch_up(execution)
    row = WorkflowExecution.objects.get(pk=execution)
    assert (row.state, row.output) == ("SUCCESS", value)
    assert row.metrics_snapshot["runs"] == 1


@pytest.mark.parametrize(
    "output", ["{{ tasks.a.output.missing.too }}", "{{ 1e308 * 10 }}"], ids=["error", "infinite"]
)
def test_an_output_that_cannot_be_made_fails_the_execution(begin: Begin, output: str) -> None:
    execution = begin({"tasks": [effect("a")], "output": output}, WHOLE)
    with transaction.atomic():
        state = plan_execution.locked(execution)
        assert state is not None
        with pytest.raises(finish.NoOutput):
            finish.output_of(state)
    assert plan_execution.catch_up(execution)
    row = WorkflowExecution.objects.get(pk=execution)
    assert row.state == "FAILED"
    assert row.error_message.startswith("The workflow's output could not be rendered: ")


def test_an_execution_with_a_past_begins_what_is_ready_and_does_not_end(
    queue: World, begin: Begin
) -> None:
    ended = {"a.main": "SUCCESS", "b.main": "SUCCESS", "rescue.one": "SKIPPED"}
    for rows, begun in ((ended, set()), ({"a.main": "SUCCESS"}, {"b.main"})):
        execution = begin(FLOW, rows)
        with transaction.atomic():
            plan_execution.insert_first(WorkflowExecution.objects.get(pk=execution))
        assert WorkflowExecution.objects.get(pk=execution).state == "RUNNING"
        assert sent(queue, execution) == begun


@pytest.mark.parametrize(
    ("output", "here"), [(None, True), ("constant", True), ("{{ input.city }}", False)]
)
def test_a_request_leaves_an_output_to_a_worker(
    queue: World, begin: Begin, output: Any, here: bool
) -> None:
    document = {"tasks": [effect("a")]} | ({} if output is None else {"output": output})
    execution = begin(document, WHOLE)
    with render_guard.refused():
        with transaction.atomic():
            state = plan_execution.locked(execution)
            assert state is not None
            if here:
                assert finish.output_of(state) == output
            else:
                with pytest.raises(finish.NoOutput):
                    finish.output_of(state)
        plan_execution.advance(execution)
    state_now = WorkflowExecution.objects.get(pk=execution).state
    assert (state_now, sent(queue, execution)) == (
        ("SUCCESS", set()) if here else ("RUNNING", {""})
    )


# The document, rows, place, what the worker knows, whether others are live; the rows that begin,
# and the execution's state.
CONCLUDED: dict[str, tuple[Any, Mapping[str, Row], str, Mapping[str, Any], bool, set[str], str]] = {
    "others are live": (TWO, {"a.main": "SUCCESS"}, "a.main", {}, True, set(), "RUNNING"),
    "the last of those it knows": (
        TWO, {"a.main": "SUCCESS"}, "a.main", {}, False, {"b.main"}, "RUNNING"),
    "it resumed": (
        TWO, {"a.main": "SUCCESS"}, "a.main", {"resumed": True}, True, {"b.main"}, "RUNNING"),
    "it knows of all": (
        TWO, dict.fromkeys(("a.main", "b.main", "c.main"), "SUCCESS"), "a.main",
        {"outcomes": dict.fromkeys(range(3), "success")}, False, set(), "SUCCESS"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONCLUDED)
def test_the_end_of_a_segment_goes_on_or_ends(queue: World, begin: Begin, case: str) -> None:
    document, rows, path, known, others, begun, ends = CONCLUDED[case]
    execution = begin(document, rows)
    with transaction.atomic():
        finish.conclude(state_at(execution, path, **known), others=others)
    assert sent(queue, execution) == begun
    assert WorkflowExecution.objects.get(pk=execution).state == ends


UNDO = {"use": "test.effect", "with": {}}
UNDONE = {"tasks": [effect("a", undo=UNDO), effect("b", "a", undo=UNDO), effect("bad", "b")]}
BAD: Mapping[str, Row] = {"a.main": "SUCCESS", "b.main": "SUCCESS", "bad.main": "DLQ"}
RUNS = {"compensation": "RUNNING", "ending": "FAILED"}
WAITS = {"compensation": "WAITING", "ending": "FAILED", "state": "PAUSED"}
# The rows beside those that ended, the execution's columns; whether it moves, what begins, and the
# execution's state and compensation.
UNDOING: dict[str, tuple[Mapping[str, Row], Mapping[str, Any], bool, set[str], tuple[str, str]]] = {
    "begins": ({}, {}, True, {"undo:b.main"}, ("RUNNING", "RUNNING")),
    "waited": ({}, WAITS, True, {"undo:b.main"}, ("RUNNING", "RUNNING")),
    "waits for a step": ({"bad.main": "RUNNING"}, WAITS, False, set(), ("PAUSED", "WAITING")),
    "ends what was to begin": (
        {"bad.main": "PENDING"}, WAITS, True, {"undo:b.main"}, ("RUNNING", "RUNNING")),
    "is paused": ({}, RUNS | {"state": "PAUSED"}, False, set(), ("PAUSED", "RUNNING")),
    "is under way": ({"undo:b.main": "RUNNING"}, RUNS, False, set(), ("RUNNING", "RUNNING")),
    "goes on": ({"undo:b.main": "SUCCESS"}, RUNS, True, {"undo:a.main"}, ("RUNNING", "RUNNING")),
    "fails": ({"undo:b.main": "DLQ"}, RUNS, True, set(), ("FAILED", "FAILED")),
    "is done": ({"undo:b.main": "SUCCESS", "undo:a.main": "SKIPPED"}, RUNS, True, set(),
                ("FAILED", "DONE")),
}  # fmt: skip


@pytest.mark.parametrize("case", UNDOING)
def test_an_undo_is_planned_from_the_rows(queue: World, begin: Begin, case: str) -> None:
    rows, columns, moves, begun, after = UNDOING[case]
    execution = begin(UNDONE, {**BAD, **rows}, **columns)
    assert plan_execution.catch_up(execution) is moves
    row = WorkflowExecution.objects.get(pk=execution)
    assert (row.state, row.compensation) == after
    told = {""} if case == "begins" else set()  # a worker plans again, in case a step still ran
    assert sent(queue, execution) == begun | told
    live = ("PENDING", "LEASED", "RUNNING", "WAITING")
    found = {path for path, state in rows_of(execution).items() if state in live}
    assert found == begun | ({path for path in rows if rows[path] == "RUNNING"} - begun)
