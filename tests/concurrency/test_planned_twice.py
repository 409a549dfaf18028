"""Another process plans the whole execution while a worker holds ready pure steps only in
memory.
"""

import pytest

from runners.models import Run
from runners.pipeline import execute, receive
from runners.planning import plan_execution
from tests.support.auditor import audit
from tests.support.segments import run_of
from tests.support.single_thread import World, configured
from tests.support.workflows import effect, publish, start, states, task

FORK = {
    "tasks": [
        task("begin"),
        task("a", after="begin"),
        task("b", after="begin"),
        task("c", after="begin"),
        effect("end", after=["a", "b", "c"], join="all"),
    ]
}


def test_the_worker_gives_its_step_back_and_the_execution_goes_on_at_once(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker returns its step, and the execution continues at once: a chord's body can be sent
    at any time, and must not wait for a lease to expire.
    """
    execution = start(publish(FORK))
    message = queue.queue.pop()
    perform = execute.perform
    performed: list[str] = []

    def planned_meanwhile(state, work):  # type: ignore[no-untyped-def]
        unit = perform(state, work)
        performed.append(work.step.path)
        if len(performed) == 2:
            assert plan_execution.advance(execution)
        return unit

    monkeypatch.setattr(execute, "perform", planned_meanwhile)
    with configured(stretch_steps=1):
        receive.run_segment(message.execution, message.version, message.segment)
    assert performed == ["begin.main", "a.main"]
    assert run_of(execution, "a.main").state == "PENDING", "given back, not held for 20 s"
    monkeypatch.setattr(execute, "perform", perform)
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"
    assert Run.objects.filter(execution_id=execution).count() == len(FORK["tasks"])
    audit([execution])
