"""The plan from the rows of a map's items: items that begin or end, and the map's end."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from executions.definition.graph.iterations import LoopTurns, MapTurns
from executions.definition.graph.places import Place
from executions.models import WorkflowExecution
from runners.models import Run
from runners.planning import finish, plan_execution, plan_from_rows
from tests.support.compiled import graph_of
from tests.support.planned import FLOW, STUCK, Begin, Row, begin, rows_of, sent, state_at
from tests.support.single_thread import World
from tests.support.workflows import effect

__all__ = ["begin"]

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
    """Return the rows of one item of the map."""
    rows = {"x": x, "y": y, "z": z}
    return {f"each[{index}].{name}.main": row for name, row in rows.items() if row}


def turns(upto: int, *opened: int, **more: Any) -> dict[str, Any]:
    """Return the counters of the map."""
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


def test_the_output_is_that_of_the_workflow_though_an_item_ends_it(begin: Begin) -> None:
    """The output is the workflow's even if an item ends the execution: the body has a task with
    the same name.
    """
    tasks = [{**MAP["tasks"][0], "body": {"tasks": [effect("after")]}}, MAP["tasks"][1]]
    rows: dict[str, Row] = {
        "each.main": "SUCCESS",
        "after.main": ("SUCCESS", {"outputs": "of the workflow"}),
        "each[0].after.main": ("SUCCESS", {"outputs": "of the item"}),
    }
    execution = begin({"tasks": tasks, "output": "{{ tasks.after.output }}"}, rows)
    with transaction.atomic():
        assert finish.settle_or_end(state_at(execution, "each[0].after.main"))
    row = WorkflowExecution.objects.get(pk=execution)
    assert (row.state, row.output) == ("SUCCESS", "of the workflow")


ENDED = item(0, "SUCCESS", "SUCCESS", "SKIPPED")
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
        assert finish._turn_over(state_at(execution, X.format(0), **known)) is moves
    assert sent(queue, execution) == begun
    assert Run.objects.get(execution_id=execution, step_path="each.main").progress == after
