"""The executions that may move to another version of their workflow."""

from typing import Any
from uuid import UUID

import pytest

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.document import normalise
from executions.definition.graph.model import Graph
from executions.definition.graph.plan import StepFact, StepStatus
from executions.definition.graph.resolve import resolve
from executions.definition.graph.version_change import (
    Judgement,
    ReachedStep,
    VersionPair,
    judge,
    name_problems,
    new_path,
)
from tests.unit.graph.catalog import definition, noop
from tests.unit.graph.containers import CONTAINERS, loop

WORKFLOW = UUID(int=7)


def graph(*tasks: Any, **more: Any) -> Graph:
    document = resolve(normalise(definition(tasks, **more)), CONTAINERS)
    return compile_graph(document, WORKFLOW)


def wait(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "use": "flow.wait", **more}


def done(path: str, outcome: str = "success") -> ReachedStep:
    return ReachedStep(path, StepFact(StepStatus.DONE, outcome), "flow.noop", bound=True)


def waits(path: str, module: str = "flow.wait") -> ReachedStep:
    return ReachedStep(path, StepFact(StepStatus.LIVE), module, bound=True)


def of(path: str, status: StepStatus, **more: Any) -> ReachedStep:
    return ReachedStep(path, StepFact(status), "flow.noop", **more)


def judged(old: Graph, new: Graph, *rows: ReachedStep, **names: str) -> Judgement:
    return judge(VersionPair(old, new, 7, names), rows)


OLD = graph(noop("order"), wait("rest", after="order"), noop("ship", after="rest"))
AT_REST = (done("order.main"), waits("rest.main"))


def test_an_execution_that_waits_goes_on_where_it_waits() -> None:
    found = judged(OLD, OLD, *AT_REST)

    assert found.moves
    assert (found.at, found.starts) == (("rest",), ())


def test_a_step_may_be_added_after_the_one_that_waits() -> None:
    new = graph(
        noop("order"), wait("rest", after="order"), noop("check", after="rest"),
        noop("ship", after="check"),
    )  # fmt: skip

    assert judged(OLD, new, *AT_REST).moves


def test_an_ended_step_may_be_removed() -> None:
    new = graph(wait("rest"), noop("ship", after="rest"))

    assert judged(OLD, new, *AT_REST).moves


def test_a_step_that_waits_must_exist() -> None:
    new = graph(noop("order"), noop("ship", after="order"))

    [reason] = judged(OLD, new, *AT_REST).problems

    assert reason == (
        "Step `rest` is waiting and does not exist in version 7. Map it to a step of version 7, or "
        "wait until it ends."
    )


def test_a_renamed_step_goes_on_if_it_is_mapped() -> None:
    new = graph(noop("order"), wait("pause", after="order"), noop("ship", after="pause"))

    assert not judged(OLD, new, *AT_REST).moves
    found = judged(OLD, new, *AT_REST, rest="pause")
    assert found.moves
    assert found.at == ("pause",)


def test_a_new_step_before_a_started_one_is_refused() -> None:
    new = graph(
        noop("order"), noop("check", after="order"), wait("rest", after="check"),
        noop("ship", after="rest"),
    )  # fmt: skip

    [reason] = judged(OLD, new, *AT_REST).problems

    assert reason.startswith(
        "Step `rest` has started, and in version 7 it comes after `check`, which has not ended."
    )


def test_a_new_branch_starts_at_once() -> None:
    new = graph(
        noop("order"), wait("rest", after="order"), noop("ship", after="rest"),
        noop("letter", after="order"),
    )  # fmt: skip

    found = judged(OLD, new, *AT_REST)

    assert found.moves
    assert found.starts == ("letter",)


def test_a_step_that_would_have_been_skipped_is_refused() -> None:
    new = graph(
        noop("order"), noop("ship", after="rest"), wait("rest"),
        edges=[{"from": "order", "to": "rest", "on": "error"}],
    )  # fmt: skip

    [reason] = judged(OLD, new, *AT_REST).problems

    assert "would be skipped in version 7" in reason


def test_a_step_that_a_worker_executes_is_waited_for() -> None:
    found = judged(
        OLD, OLD, done("order.main"), of("rest.main", StepStatus.LIVE, held=True, bound=True)
    )

    assert (found.moves, found.problems, found.busy) == (False, (), ("rest",))


@pytest.mark.parametrize("status", ["held", "due"])
def test_a_step_that_ends_soon_is_waited_for_where_it_does_not_fit(status: str) -> None:
    checked = graph(
        noop("order"), wait("rest", after="order"), noop("check", after="rest"),
        noop("ship", after="check"),
    )  # fmt: skip
    without = graph(noop("order"), wait("rest", after="order"))
    ships = of("ship.main", StepStatus.LIVE, **{status: True})

    for new in (checked, without):
        found = judged(OLD, new, done("order.main"), done("rest.main"), ships)
        assert (found.moves, found.busy) == (False, ("ship",))
        assert bool(found.problems) == (status == "due")  # the preview gives the reason


def test_a_due_step_that_fits_moves() -> None:
    due = of("ship.main", StepStatus.LIVE, due=True)

    found = judged(OLD, OLD, done("order.main"), done("rest.main"), due)

    assert (found.moves, found.busy, found.at) == (True, (), ("ship",))


def test_a_waiting_step_keeps_its_module_and_a_due_one_need_not() -> None:
    new = graph(noop("order"), noop("rest", after="order"), noop("ship", after="rest"))

    [reason] = judged(OLD, new, *AT_REST).problems
    assert reason.startswith("Step `rest` is waiting as flow.wait, but is flow.noop in version 7.")

    due = of("rest.main", StepStatus.LIVE)
    assert judged(OLD, new, done("order.main"), due).moves


def test_a_dead_letter_needs_its_step_under_the_same_id() -> None:
    dead = of("order.main", StepStatus.DEAD, bound=True)
    renamed = graph(noop("buy"), wait("rest", after="buy"), noop("ship", after="rest"))

    assert judged(OLD, OLD, dead).moves
    [missing] = judged(OLD, renamed, dead).problems
    assert "is a dead letter and does not exist in version 7" in missing
    [mapped] = judged(OLD, renamed, dead, order="buy").problems
    assert "is a dead letter, and has another ID in version 7" in mapped


def test_an_undo_step_is_not_lost() -> None:
    undo = {"undo": {"use": "flow.noop"}}
    old = graph(noop("order", **undo), wait("rest", after="order"))
    removed = graph(wait("rest"))
    kept = graph(noop("order", **undo), wait("rest", after="order"), noop("x", after="rest"))

    [reason] = judged(old, removed, *AT_REST).problems
    assert "succeeded and has an undo step, but does not exist in version 7" in reason
    plain = graph(noop("order"), wait("rest", after="order"))
    [reason] = judged(old, plain, *AT_REST).problems
    assert "has an undo step, but none in version 7" in reason
    assert judged(old, kept, *AT_REST).moves


IN_LOOP = (
    done("order.main"),
    waits("again.main", "flow.loop"),
    done("again[0].draft.main"),
    done("again[0].rest.main"),
    done("again[1].draft.main"),
    waits("again[1].rest.main"),
)


def looping(*body: Any, name: str = "again") -> Graph:
    return graph(noop("order"), loop(name, *body, after="order"))


def test_an_open_iteration_goes_on_and_ended_ones_stay_as_they_are() -> None:
    old = looping(noop("draft"), wait("rest", after="draft"))
    new = looping(noop("draft"), wait("rest", after="draft"), noop("check", after="rest"))

    found = judged(old, new, *IN_LOOP)

    assert found.moves
    assert (found.at, found.starts) == (("again", "again.rest"), ())


def test_a_loop_and_a_step_in_it_may_be_renamed() -> None:
    old = looping(noop("draft"), wait("rest", after="draft"))
    new = looping(noop("draft"), wait("pause", after="draft"), name="refine")
    names = {"again": "refine", "again.rest": "pause"}
    change = VersionPair(old, new, 7, names)

    assert name_problems(change) == []
    assert judge(change, IN_LOOP).moves
    assert new_path("again[1].rest.main", names) == "refine[1].pause.main"
    assert new_path("order.main", names) == "order.main"


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"nowhere": "ship"}, "has no step `nowhere`"),
        ({"rest": "nowhere"}, "has no step `nowhere` there"),
        ({"order": "pause"}, "has a step `order` too"),
        ({"rest": "ship"}, "has a step `ship` already"),
    ],
)
def test_a_table_of_names_is_checked(names: dict[str, str], reason: str) -> None:
    new = graph(noop("order"), wait("pause", after="order"), noop("ship", after="pause"))

    [(place, found)] = name_problems(VersionPair(OLD, new, 7, names))

    assert place == next(iter(names))
    assert reason in found


def test_two_steps_cannot_become_one() -> None:
    old = graph(wait("a"), wait("b"))
    new = graph(wait("c"))

    [(_, reason)] = name_problems(VersionPair(old, new, 7, {"a": "c", "b": "c"}))

    assert reason == "`a` is mapped to `c` too. Map one step to each."
