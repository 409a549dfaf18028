"""A run that a program outside our workers holds: its secrets, and the record of its report.

No worker carries its segment on: whatever follows is sent to workers, or waits to be leased.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction

from executions.definition.templating.secrets import Place
from runners import statements
from runners.conf import default_currency
from runners.errors import LeaseLost
from runners.failures.classification import Failure
from runners.modules.base import Result
from runners.pipeline import record_result
from runners.pipeline.end_run import Looked
from runners.pipeline.reveal_secrets import Revealed, filled, scrubber_of, uses_secrets
from runners.ports import trace_remote_run
from runners.secrets.scrubbing import Scrubber
from runners.segment import execution_lock
from runners.segment.inputs import Prepared
from runners.segment.state import SegmentState
from runners.segment.work import Cost, Done, Unit, Work


@dataclass(frozen=True, slots=True)
class _Held:
    """What is known of a run whose lease was seen to hold."""

    inputs_hash: str
    key: str
    milliseconds: float  # since it began


def reveal(looked: Looked, inputs: Any, places: Sequence[Place]) -> Revealed:
    """Put the step's secrets into its inputs. Raises what `reveal_secrets.filled` raises."""
    return filled(looked.state.data, looked.work.step, inputs, places)


def scrubber(looked: Looked) -> Scrubber | None:
    """Return what takes secrets out of the run's reports; None for a step that uses no secrets.

    Call it outside a transaction: reading secrets may take a key service. Raises
    SecretUnavailable when one of them is gone meanwhile.
    """
    if not uses_secrets(looked.work.step):
        return None
    return scrubber_of(looked.state.data, looked.work.step)


def record_success(
    looked: Looked, token: int, result: Result, outputs: str, tokens: int = 0
) -> bool:
    """Record a result under the lease; False when the lease is over.

    `outputs` are those of the result as canonical JSON; `tokens` is what the step spent.
    """
    state, step = looked.state, looked.work.step

    def unit(held: _Held) -> Unit:
        state.ended(step, result.outcome, result.outputs)
        prepared = Prepared(None, "null", held.inputs_hash, held.key)
        head = Done(step, state.place, prepared, result, outputs, held.milliseconds)
        if tokens:
            head.costs = (Cost("", default_currency(), 0, 0, tokens, Decimal(0)),)
        return Unit(head)

    return _record(looked, token, unit)


def record_failure(looked: Looked, token: int, failure: Failure) -> bool:
    """Record a failure under the lease; False when the lease is over."""
    return _record(
        looked, token, lambda held: Unit(None, failure=failure, milliseconds=held.milliseconds)
    )


def refuse(looked: Looked, token: int, failure: Failure) -> bool:
    """Fail a run that was leased and cannot be handed out; False when the lease is over."""
    return _record(looked, token, lambda _: Unit(None, failure=failure), worked=False)


def _record(
    looked: Looked, token: int, make: Callable[[_Held], Unit], *, worked: bool = True
) -> bool:
    """Record the unit that `make` returns; `worked` is whether its holder did the step."""
    state, work = looked.state, looked.work
    work.token = token
    # Who leased it first knows of no more than the rows, so there is nothing left to look for.
    state.resumed = token > 1 or work.path != state.segment
    try:
        with transaction.atomic():
            held = _hold(state, work)
            if held is None:
                return False
            unit = make(held)
            record_result.record(state, work, unit)
            if worked and trace_remote_run.provided:
                trace_remote_run(state, work, unit, held.milliseconds)
    except LeaseLost:
        return False
    return True


def _hold(state: SegmentState, work: Work) -> _Held | None:
    """Lock the execution and then the run, as begun; None when the lease is over.

    Needs a transaction that is open.
    """
    locked = statements.fetch_one("lock", {"execution": state.context.execution_id})
    if locked is None or locked[0] not in ("RUNNING", "PAUSED") or locked[1] != state.context.epoch:
        return None
    execution_lock.note_state(state, locked[0])
    row = statements.fetch_one("hold", {"run": work.run_id, "token": work.token})
    if row is None:
        return None
    work.holder = row[0]
    return _Held(*row[1:])
