"""Suspend a run that waits, for example for a timer, a callback, an approval or an event."""

from functools import partial

from executions import payloads
from executions.admission import capacity
from executions.database import transaction
from runners import statements
from runners.containers import iterations
from runners.errors import LeaseLost
from runners.modules.base import Wait
from runners.pipeline import checkpoints
from runners.segment import execution_lock
from runners.segment.state import Frontier, SegmentState
from runners.segment.work import Unit, Work
from runners.states import WaitKind
from runners.waits.callbacks import hand_over
from runners.waits.events import catch_up


def suspend(state: SegmentState, work: Work, unit: Unit, wait: Wait) -> None:
    """Suspend the run and open a container's body; release the slot if every run is suspended.

    The slot is kept while a run waits for a child. Raises LeaseLost if another worker holds the
    run.
    """
    tokens, amount = unit.cost_totals()
    with transaction.atomic():
        execution_lock.lock(state)
        facts = dict(wait.facts)
        row = statements.fetch_one(
            "suspend",
            {
                "execution": state.context.execution_id,
                "run": work.run_id,
                "token": work.token,
                "holder": work.holder,
                "kind": wait.kind.value,
                "key": wait.key,
                "facts": state.context.sealer.facts(
                    payloads.dump(facts, "facts of the wait"), "progress", work.run_id
                ),
                "seconds": wait.seconds,
                "until": wait.until,
                "logs": _logs(state, work, unit),
                "duration_ms": unit.milliseconds,
                "cost_tokens": tokens,
                "cost_amount": amount,
            },
        )
        if row is None:
            raise LeaseLost(str(work.run_id))
        awake = row[1] or _heard(state, work, wait)
        if wait.kind is WaitKind.BODY:
            iterations.open_turns(state, work, facts)
            state.passed.turn = state.passed.turn or work.step.container == "loop"
        elif wait.kind is not WaitKind.CHILD and not awake:
            capacity.release_slot(state.context.execution_id)
        checkpoints.after_step(state, work, unit)
    state.frontier = Frontier()


def _logs(state: SegmentState, work: Work, unit: Unit) -> str | None:
    if not unit.logs:
        return None
    return state.context.sealer.lines(payloads.dump(unit.logs, "log"), "logs", work.path)


def _heard(state: SegmentState, work: Work, wait: Wait) -> bool:
    """Hand an early callback to the run; return whether a callback had arrived.

    If the run waits for an event, events that arrived in the meantime are looked up after the
    commit.
    """
    if wait.kind is WaitKind.EVENT:
        transaction.on_commit(partial(catch_up, work.run_id), robust=True)
    return wait.kind is WaitKind.CALLBACK and hand_over(
        state.context.execution_id, work.run_id, work.path
    )
