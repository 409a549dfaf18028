"""Stages call their gates, and steps that a removed gate held continue."""

from collections.abc import Iterator
from typing import Any

import pytest

from executions import lifecycle
from runners.conf import config
from runners.errors import LeaseLost
from runners.failures.classification import Failure
from runners.gates import gates
from runners.models import Run
from runners.modules.base import Wait
from runners.pipeline import execute
from runners.recovery.sweeper import waits
from runners.states import WaitKind
from tests.support import targets
from tests.support.segments import claimed
from tests.support.single_thread import World
from tests.support.targets import calls
from tests.support.workflows import ACTOR, effect, publish, start, states, task


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Restore the gates after a test that registers its own."""
    registered, order = dict(gates._stages), list(gates._gates)
    yield
    gates._stages.clear()
    gates._stages.update(registered)
    gates._gates[:] = order


def hold(asked: gates.Asked) -> Wait:
    return Wait(WaitKind.CIRCUIT, seconds=3600, key="somebody", facts={"target": "somebody"})


def test_a_gate_is_asked_in_its_stage_whenever_it_registers() -> None:
    asked: list[str] = []

    def gate(name: str) -> gates.Gate:
        return lambda _: asked.append(name)

    gates._stages.clear()
    gates.register(gate("target"))
    gates.register(gate("hold"), gates.Stage.HOLD)
    gates.register(gate("refuse"), gates.Stage.REFUSE)
    gates.register(gate("other hold"), gates.Stage.HOLD)

    assert gates.ask(None) is gates.OPEN  # type: ignore[arg-type]
    assert asked == ["refuse", "hold", "other hold", "target"]


def test_a_run_whose_gate_is_gone_goes_on_at_its_timer(queue: World) -> None:
    targets.install()
    gates._stages.clear()
    gates.register(hold)
    steps = [task("call", "test.call", **{"with": {"target": "left-out"}})]
    execution = start(publish({"tasks": steps}))
    queue.drain()
    run = Run.objects.get(execution_id=execution)
    assert (run.state, run.waits_for, calls["left-out"]) == ("WAITING", "circuit", 0)

    gates._stages.clear()
    gates._gates.clear()
    waits.due_timers()  # timers of other tests' runs may be due as well
    Run.objects.filter(pk=run.pk).update(due_at=run.queued_at)
    assert waits.due_timers() >= 1
    assert Run.objects.get(pk=run.pk).state == "PENDING"
    queue.drain()

    assert states([execution]) == {execution: "SUCCESS"}
    assert calls["left-out"] == 1
    assert Run.objects.get(execution_id=execution).attempt == 1


class Kept(gates.Permit):
    """A permit that records its calls."""

    timeout = None

    def __init__(self) -> None:
        self.told: list[str] = []

    def ended(self, failure: Failure | None) -> None:
        self.told.append("ended" if failure is None else "failed")

    def undo(self) -> None:
        self.told.append("undone")


@pytest.mark.parametrize(
    ("inputs", "late", "told"),
    [({}, False, "ended"), ({"failTimes": 1}, False, "failed"), ({}, True, "undone")],
)
def test_a_permit_is_told_how_its_step_ended_or_that_it_did_not_run(
    queue: World, inputs: dict[str, Any], late: bool, told: str
) -> None:
    permit = Kept()
    gates._stages.clear()
    gates.register(lambda _: permit)
    execution = start(publish({"tasks": [effect("a", retry="none", **inputs)]}))
    state, work = claimed(execution, "a.main")
    if late:  # too little of its lease is left to begin
        work.claimed_at -= config().lease
        with pytest.raises(LeaseLost):
            execute.perform(state, work)
    else:
        execute.perform(state, work)
    assert permit.told == [told]
    lifecycle.cancel(execution, actor=ACTOR)
