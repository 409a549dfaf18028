"""Steps that are the fault themselves: they kill their worker, never return, or return invalid
values.
"""

from django.db.models import F

from runners.models import Run
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.modules import ODD
from tests.support.outages import marks_of
from tests.support.waiting import wait_until_gone
from tests.support.workflows import effect, publish, start, start_many, states, task, wait_for_end

LITTLE = Load(rate=1)
# Values that cannot be stored, and the step's error for them.
SAYS = {
    "too large": "52,428,802 bytes",
    "nan": "cannot be stored as JSON",
    "nul": "NUL character",
    "surrogate": "lone surrogate",
    "deep": "is nested too deeply",
    "bytes": "cannot be stored as JSON",
}


def _poison(world: World) -> None:
    number = 2 if world.quick else 5
    poison = start_many(publish({"tasks": [effect("work", killTimes=99)]}), [{}] * number)
    world.own(poison)
    for _ in range(3 * number):
        world.injected("a step kills its worker's child")
    assert set(wait_for_end(poison, 120).values()) == {"FAILED"}
    for execution in poison:
        marks = marks_of(execution, "work.main")
        world.injured.update(mark["pid"] for mark in marks)
        run = Run.objects.get(execution_id=execution)
        assert run.state == "DLQ", f"the run of {execution} is {run.state}; expected DLQ"
        assert "ended its worker process 3 times" in run.error, run.error
        assert len(marks) == 3, f"{execution} was tried {len(marks)} times; expected 3"
    after = start(publish({"tasks": [effect("work")]}))
    world.own([after])
    assert wait_for_end([after])[after] == "SUCCESS", "the pool does not go on"


def _never_returns(world: World) -> None:
    for stubborn in (False, True):
        step = effect(
            "work", hangSeconds=900, ignoreTimeout=stubborn, timeoutSeconds=2, retry="none"
        )
        ids = start_many(publish({"tasks": [step]}), [{}] * (2 if world.quick else 6))
        world.own(ids)
        for _ in ids:
            world.injected("a step that ignores its time-out" if stubborn else "a step that hangs")
        assert set(wait_for_end(ids, 120).values()) == {"FAILED"}
        runs = Run.objects.filter(execution_id__in=ids).annotate(
            took=F("finished_at") - F("started_at")
        )
        for run in runs:
            assert (run.state, run.error_type) == ("DLQ", "TIMEOUT"), run.error
            world.recovered("ended after its time-out", run.took.total_seconds() - 2)
        if stubborn:
            pids = [mark["pid"] for pk in ids for mark in marks_of(pk, "work.main")]
            wait_until_gone(pids, 20)


def _outputs(world: World) -> None:
    large = start(publish({"tasks": [_odd("large"), effect("after", "odd")]}))
    world.own([large])
    world.injected("an output of 1 MiB")
    assert wait_for_end([large])[large] == "SUCCESS"
    run = Run.objects.get(execution_id=large, step_path="odd.main")
    assert run.outputs == ODD["large"](), "the mebibyte was not stored faithfully"
    for kind, said in SAYS.items():
        execution = start(publish({"tasks": [_odd(kind), effect("after", "odd")]}))
        world.own([execution])
        world.injected(f"an output: {kind}")
        assert wait_for_end([execution])[execution] == "FAILED", states([execution])
        run = Run.objects.get(execution_id=execution, step_path="odd.main")
        assert (run.state, run.error_type) == ("DLQ", "PERMANENT"), run.error
        assert said in run.error, f"{kind}: expected {said!r} in {run.error[:200]!r}"
        # A child that exceeds Celery's memory limit is replaced after its step; it must not die
        # during it.
        assert run.recoveries == 0, f"{kind}: the step was taken over {run.recoveries} times"


def _odd(kind: str) -> dict[str, object]:
    return task("odd", "test.odd", **{"with": {"kind": kind}})


POISON = Fault(
    "poison",
    "a step that kills its worker every time",
    "a dead letter after 3 crashes; the pool goes on",
    None,
    _poison,
    load=LITTLE,
)
NEVER_RETURNS = Fault(
    "never-returns",
    "a step that never returns, and a step that ignores its timeout",
    "ended as TIMEOUT at its time-out; a stubborn one within 10 s, with its process",
    10,
    _never_returns,
    load=LITTLE,
)
OUTPUTS = Fault(
    "outputs",
    "outputs of 1 MiB and 50 MiB, and outputs with NaN, NUL bytes, lone surrogates or deep nesting",
    "stored faithfully, or a clear permanent error; the worker goes on",
    None,
    _outputs,
    load=LITTLE,
)
