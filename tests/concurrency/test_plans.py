"""What is planned from the rows of an execution: runs that start, items that end, its own end."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from uuid6 import uuid7

from executions.definition.graph.iterations import LoopTurns, MapTurns
from executions.definition.graph.places import Place, find
from executions.definition.graph.plan import StepFact, StepStatus
from executions.definition.templating import render_guard
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners.models import Run
from runners.planning import finish, plan_execution, plan_from_rows
from runners.segment.state import SegmentState
from tests.support.compiled import graph_of
from tests.support.single_thread import World
from tests.support.workflows import effect, publish, start

Row = str | tuple[str, Mapping[str, Any]]
Begin = Callable[..., UUID]
LIVE, DONE = StepFact(StepStatus.LIVE), StepFact(StepStatus.DONE, "success")
DEAD, OVER = StepFact(StepStatus.DEAD), StepFact(StepStatus.FAILED_OVER)
HELD = {
    "leased_by": "'me'", "lease_token": "1", "lease_until": "clock_timestamp() + interval '1 h'",
}  # fmt: skip


@pytest.fixture
def begin(queue: World) -> Iterator[Begin]:
    """Starts an execution whose rows are those given, by path; afterwards it is over."""
    made: list[UUID] = []

    def with_rows(document: Mapping[str, Any], rows: Mapping[str, Row], **columns: Any) -> UUID:
        execution = start(publish(dict(document)), {"city": "Bonn"})
        made.append(execution)
        Run.objects.filter(execution_id=execution).delete()
        graph = compiled(WorkflowExecution.objects.get(pk=execution).version_id).graph
        for path, row in rows.items():
            _put(execution, graph, path, *((row, {}) if isinstance(row, str) else row))
        WorkflowExecution.objects.filter(pk=execution).update(**columns)
        queue.queue.clear()
        return execution

    yield with_rows
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET state = 'CANCELLED', finished_at = clock_timestamp()"
            " WHERE execution_id = ANY(%s) AND finished_at IS NULL", [made])  # fmt: skip
        cursor.execute(
            "UPDATE executions_workflowexecution SET state = 'CANCELLED',"
            " finished_at = clock_timestamp() WHERE id = ANY(%s) AND finished_at IS NULL",
            [made],
        )


def _put(execution: UUID, graph: Any, path: str, state: str, columns: Mapping[str, Any]) -> None:
    _, step = find(graph, path)
    run = Run(
        pk=uuid7(), execution_id=execution, segment=path, step_path=path, task_id=step.task_uuid,
        module_id=step.module_uuid, module=step.module, queue=step.queue,
        **{"outcome": "success" if state == "SUCCESS" else "", **columns},
    )  # fmt: skip
    run.save(force_insert=True)
    changes = {"state": f"'{state}'", "due_at": "clock_timestamp() + interval '1 h'"}
    if state in ("RUNNING", "LEASED"):
        changes |= HELD
    if state in ("SUCCESS", "SKIPPED", "FAILED", "DLQ", "CANCELLED"):
        changes |= {"finished_at": "clock_timestamp()", "due_at": "NULL"}
    with connection.cursor() as cursor:
        names = ", ".join(f"{name} = {value}" for name, value in changes.items())
        cursor.execute(f"UPDATE runners_run SET {names} WHERE id = %s", [run.pk])


def rows_of(execution: UUID) -> dict[str, str]:
    """The states of all its runs, by path."""
    return dict(Run.objects.filter(execution_id=execution).values_list("step_path", "state"))


def sent(queue: World, execution: UUID) -> set[str]:
    """The segments that were sent for it; "" stands for a plan by a worker."""
    messages = [one for one in queue.queue if one.execution == execution]
    return {name for one in messages for name in (one.segment, *one.others)}


CHAINED = {"id": "rescue", "after": "a:error", "modules": [
    {"id": name, "use": "test.effect", "with": {}} for name in ("one", "two")
]}  # fmt: skip
FLOW = {"tasks": [effect("a"), effect("b", "a"), CHAINED]}
TWO = {"tasks": [effect("a"), effect("b"), effect("c", ["a", "b"], join="all")]}
STUCK = "No step runs or is due, but these tasks are waiting: "
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


BODY = {"tasks": [effect("x"), effect("y", "x"), effect("z", "x:error")]}
GIVEN = {"items": [1, 2, 3], "maxConcurrency": 2}
MAP: dict[str, Any] = {"tasks": [
    {"id": "each", "use": "flow.map", "with": GIVEN, "body": BODY},
    effect("after", "each"),
]}  # fmt: skip
MANY = {
    "tasks": [*MAP["tasks"], *(effect(f"t{n}", f"t{n - 1}" if n else "after") for n in range(6))]
}
NEVER: Mapping[str, Any] = {"total": 3, "wide": 2, "next": 3, "open": []}


def item(index: int, x: Row = "SUCCESS", y: Row | None = None, z: Row | None = None) -> Any:
    """The rows of one item of the map."""
    rows = {"x": x, "y": y, "z": z}
    return {f"each[{index}].{name}.main": row for name, row in rows.items() if row}


def turns(upto: int, *opened: int, **more: Any) -> dict[str, Any]:
    """The counters of the map."""
    return {"total": 3, "wide": 2, "next": upto, "open": list(opened), **more}


FAILED = ("FAILED", {"outcome": "error"})
X = "each[{}].x.main"
# The items' rows, the map's counters, then the counters, rows that begin, and whether that moved.
ITEMS: dict[str, tuple[Mapping[str, Row], Any, Any, set[str], bool]] = {
    "live": (item(0, "PENDING"), turns(1, 0), turns(1, 0), set(), False),
    "waits": (item(0, ("WAITING", {"waits_for": "timer"})), turns(1, 0), turns(1, 0), set(), False),
    "goes on": (item(0), turns(1, 0), turns(1, 0), {"each[0].y.main"}, True),
    "ended": (item(0, "SUCCESS", "SUCCESS", "SKIPPED"), turns(1, 0),
              turns(3, 1, 2, done=1), {X.format(1), X.format(2)}, True),
    "never begun": (item(0, "PENDING"), turns(2, 0, 1),
                    turns(2, 0, 1, done=0), {X.format(1)}, True),
    "spare, and begun": (item(0, "PENDING") | item(1, "PENDING"), turns(2, 0, spare=[1]),
                         turns(2, 0, 1, done=0), set(), False),
    "spare": (item(0, "PENDING"), turns(2, 0, spare=[1]), turns(2, 0, spare=[1]), set(), False),
    "only spare": ({}, turns(2, spare=[0, 1]),
                   turns(2, 0, 1, done=0), {X.format(0), X.format(1)}, True),
    "dead beside a live one": (item(0, "DLQ") | item(1, "PENDING"), turns(2, 0, 1),
                               turns(2, 0, 1), set(), False),
    "the last": (item(2, "SUCCESS", "SUCCESS", "SKIPPED"), turns(3, 2),
                 turns(3, done=3), {"each.main"}, True),
    "failed": (item(0, "SUCCESS", FAILED, "SKIPPED"), turns(1, 0),
               turns(1, done=1, failed=0), {"each.main"}, True),
    "handled its failure": (item(0, FAILED, "SKIPPED", "SUCCESS"), turns(1, 0),
                            turns(3, 1, 2, done=1), {X.format(1), X.format(2)}, True),
    "failed beside a live one": (
        item(0, "SUCCESS", FAILED, "SKIPPED") | item(1, "PENDING"), turns(2, 0, 1),
        turns(2, 1, done=1, failed=0), set(), False),
    "counted again": (item(0, "PENDING"), None, turns(2, 0, 1, done=0), {X.format(1)}, True),
}  # fmt: skip


def _mapped(begin: Begin, document: Any, rows: Mapping[str, Row], progress: Any) -> UUID:
    waits = {"waits_for": "body", "progress": progress, "inputs": GIVEN}
    return begin(document, {"each.main": ("WAITING", waits), **rows})


@pytest.mark.parametrize("case", ITEMS)
def test_the_items_of_a_map_are_planned_from_their_rows(
    queue: World, begin: Begin, case: str
) -> None:
    rows, progress, after, begun, moved = ITEMS[case]
    execution = _mapped(begin, MAP, rows, progress)

    assert plan_execution.catch_up(execution) is moved

    run = Run.objects.get(execution_id=execution, step_path="each.main")
    assert run.progress == after
    assert run.state == ("PENDING" if "each.main" in begun else "WAITING")
    assert sent(queue, execution) == begun
    assert {path for path in rows_of(execution) if "x.main" in path} == {
        path for path in {*rows, *begun} if "x.main" in path
    }


def test_what_a_dead_item_blocks_ends_the_execution_with_its_path(begin: Begin) -> None:
    execution = _mapped(begin, MAP, item(0, ("DLQ", {"error": "no stock"})), turns(1, 0))
    assert plan_execution.catch_up(execution)
    row = WorkflowExecution.objects.get(pk=execution)
    assert row.error_message == "Step each[0].x.main failed permanently: no stock"


@pytest.mark.parametrize(
    ("document", "names"),
    [
        (MANY, "after, t0, t1, t2, t3"),
        ({"tasks": MAP["tasks"][:1]}, "a container"),
    ],
)
def test_an_execution_that_nothing_moves_fails_and_names_what_waits(
    begin: Begin, document: Any, names: str
) -> None:
    execution = _mapped(begin, document, {}, NEVER)
    assert plan_execution.catch_up(execution)
    row = WorkflowExecution.objects.get(pk=execution)
    assert (row.state, row.error_message) == ("FAILED", f"{STUCK}{names}.")


def test_a_container_that_was_woken_opens_no_items(queue: World, begin: Begin) -> None:
    woken = {"waits_for": "body", "progress": turns(1, 0), "inputs": {"items": [1]}}
    execution = begin(MAP, {"each.main": ("PENDING", woken)})
    assert not plan_execution.catch_up(execution)
    assert rows_of(execution) == {"each.main": "PENDING"}


PLACE = Place("", graph_of(FLOW))
CHANGED: list[tuple[Any, Mapping[str, Any], bool]] = [
    (LoopTurns(0, 2), {}, False),
    (MapTurns(3, 2, 3), {}, False),
    (MapTurns(3, 2, 2, (0,), (1,)), {}, False),
    (MapTurns(3, 2, 2, (), (1,)), {}, True),
    *[(MapTurns(3, 2, 1, (0,)), {name: [0]}, True) for name in ("ended", "begun", "unstarted")],
    (MapTurns(3, 2, 1, (0,)), {"counted_anew": True}, True),
    (MapTurns(3, 2, 1, (0,)), {"failed": [0]}, False),
]


@pytest.mark.parametrize(("counters", "found", "changed"), CHANGED)
def test_counters_change_if_items_end_begin_or_wait(
    counters: Any, found: Mapping[str, Any], changed: bool
) -> None:
    assert plan_from_rows._Container(PLACE, counters, **found).changed is changed


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


def test_the_output_is_that_of_the_workflow_though_an_item_ends_it(begin: Begin) -> None:
    """The body has a task of the same name."""
    tasks = [{**MAP["tasks"][0], "body": {"tasks": [effect("after")]}}, MAP["tasks"][1]]
    rows: dict[str, Row] = {
        "each.main": "SUCCESS",
        "after.main": ("SUCCESS", {"outputs": "of the workflow"}),
        "each[0].after.main": ("SUCCESS", {"outputs": "of the item"}),
    }
    execution = begin({"tasks": tasks, "output": "{{ tasks.after.output }}"}, rows)
    with transaction.atomic():
        assert finish.settle_or_end(_state(execution, "each[0].after.main"))
    row = WorkflowExecution.objects.get(pk=execution)
    assert (row.state, row.output) == ("SUCCESS", "of the workflow")


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


def _state(execution: UUID, path: str, **known: Any) -> SegmentState:
    state = plan_execution.locked(execution)
    assert state is not None
    place, _ = find(state.context.version.graph, path)
    state.data.place = place
    state.resumed = False
    for name, value in known.items():
        setattr(state, name, value)
    return state


ENDED = item(0, "SUCCESS", "SUCCESS", "SKIPPED")
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
        finish.conclude(_state(execution, path, **known), others=others)
    assert sent(queue, execution) == begun
    assert WorkflowExecution.objects.get(pk=execution).state == ends


SETTLED = {"outcomes": dict.fromkeys(range(3), "success")}
# An item's rows, what the worker knows; whether it moves, the counters, and what begins.
TURNS: dict[str, tuple[Mapping[str, Row], Mapping[str, Any], bool, Any, set[str]]] = {
    "ended": (ENDED, {}, True, turns(3, 1, 2, done=1), {X.format(1), X.format(2)}),
    "settled": (ENDED, SETTLED, True, turns(3, 1, 2, done=1), {X.format(1), X.format(2)}),
    "settled, failed": (ENDED, {"outcomes": {0: "success", 1: "error", 2: "skipped!"}}, True,
                        turns(1, done=1, failed=0), {"each.main"}),
    "failed": (item(0, "SUCCESS", FAILED, "SKIPPED"), {}, True,
               turns(1, done=1, failed=0), {"each.main"}),
    "goes on": (item(0), {}, True, turns(1, 0), {"each[0].y.main"}),
    "live": (item(0, "PENDING"), {}, False, turns(1, 0), set()),
    "dead": (item(0, "DLQ"), {}, False, turns(1, 0), set()),
    "dead, last": (item(0, "SUCCESS", "DLQ", "SKIPPED"), {}, False, turns(1, 0), set()),
}  # fmt: skip


@pytest.mark.parametrize("case", TURNS)
def test_the_end_of_an_item_goes_on_or_closes_it(queue: World, begin: Begin, case: str) -> None:
    rows, known, moves, after, begun = TURNS[case]
    execution = _mapped(begin, MAP, rows, turns(1, 0))
    with transaction.atomic():
        assert finish._turn_over(_state(execution, X.format(0), **known)) is moves
    assert sent(queue, execution) == begun
    assert Run.objects.get(execution_id=execution, step_path="each.main").progress == after


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
