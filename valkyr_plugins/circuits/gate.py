"""Check a step's circuit before the step runs; hold and wake steps; reset circuits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from executions.public.access import Actor, record
from executions.public.database import first_id_at, transaction
from executions.public.errors import NotFound
from runners.public.explain import at, brief, iso, sentence
from runners.public.gates import LONGEST_TARGET, Asked, Failure, Wait, storable_text, wake_all
from runners.public.gates import config as engine
from runners.public.models import WaitKind
from runners.public.modules import ErrorType, StepError
from runners.public.recovery import each
from runners.public.targets import TargetLimits
from valkyr_plugins.circuits import breaker_rows, statements
from valkyr_plugins.circuits.breaker import (
    Caller,
    Circuit,
    Entry,
    answered,
    called,
    closed,
    failed,
    free,
    room,
    undone,
)
from valkyr_plugins.circuits.conf import config
from valkyr_plugins.circuits.entering import WantedCall, enter_all, enter_one
from valkyr_plugins.circuits.memory import Key, Memory
from valkyr_plugins.circuits.models import CircuitBreaker

# Wake the steps that wait for a target: as many as may call the target now, the oldest first.


WOKEN_AT_ONCE = 200  # maximum steps woken at once, so that a recovering target is not overloaded
MOST_COUNTED = 10_000
WOKEN = {"by": "circuit"}


def wake(key: Key, most: int = WOKEN_AT_ONCE) -> int:
    """Wake a limited number of a target's held runs; return how many were woken.

    This locks no breaker.
    """
    with transaction.atomic():
        found = statements.fetch(
            "longest_held_runs",
            {"target": key.target, "workspace": key.workspace_id, "most": most},
        )
        return wake_all([(run, of) for run, of in found], [WaitKind.CIRCUIT], WOKEN)


def wake_some(key: Key, limits: TargetLimits) -> int:
    """Wake as many held runs as the circuit allows, at most 200; return their number.

    Unless the circuit is free, further runs follow after the next call or a waiting time.
    """
    patience = timedelta(seconds=engine().patience)
    done = breaker_rows.change(key, lambda circuit, now: called(circuit, now + patience, now))
    places = room(done.before, limits, done.now)
    return (
        wake(key, WOKEN_AT_ONCE if places is None else min(places, WOKEN_AT_ONCE))
        if places != 0
        else 0
    )


def held_for(keys: Sequence[Key]) -> dict[Key, int]:
    """Return the number of held runs of each target, counted up to 10,000. Uses one query."""
    if not keys:
        return {}
    found = statements.fetch(
        "count_held_runs",
        {
            "workspaces": [key.workspace_id for key in keys],
            "targets": [key.target for key in keys],
            "most": MOST_COUNTED,
        },
    )
    return {Key(workspace_id, target): held for workspace_id, target, held in found}


COUNTED = frozenset({ErrorType.TRANSIENT, ErrorType.TIMEOUT})
# A call may end slightly after its timeout. A call that is given up too early would count twice.
SPARE_SECONDS = 5.0


@lru_cache(maxsize=1)
def memory() -> Memory:
    """Return this process's memory of circuits."""
    return Memory(breaker_rows.picture, config().base)


def ask(asked: Asked) -> "Passing | Wait | None":
    """Return a permit for the step's call to its target, or the wait of a held step.

    Returns None if the step has no target, or if circuits are off. Raises StepError if the step was
    held for the maximum time.
    """
    target = target_of(asked) if config().enabled else None
    if target is None:
        return None
    known = memory()
    known.refresh()
    call = _call(asked, target)
    return _answer(call, known.entry(call.key, call.caller) or enter_one(call, known), known)


def ask_all(asked: Sequence[Asked]) -> "list[Passing | Wait | Exception | None]":
    """For each of several steps that are leased together, return the result or the error of `ask`.

    Uses a fixed number of queries, and none if a fresh cache decides for all steps.
    """
    if not config().enabled:
        return [None] * len(asked)
    known = memory()
    known.refresh()
    calls = [_call_or_error(one) for one in asked]
    unsure: dict[Key, list[WantedCall]] = {}
    entries: dict[UUID, Entry] = {}
    for call in calls:
        if isinstance(call, WantedCall):
            entry = known.entry(call.key, call.caller)
            if entry is None:
                unsure.setdefault(call.key, []).append(call)
            else:
                entries[call.caller.run_id] = entry
    entries |= enter_all(unsure, known)
    return [
        _answer_or_error(call, entries[call.caller.run_id], known)
        if isinstance(call, WantedCall)
        else call
        for call in calls
    ]


def undo_all(permits: "Sequence[Passing]") -> None:
    """Release the permits of calls that were not made because another gate stopped their steps."""
    by_key: dict[Key, list[Passing]] = {}
    for permit in permits:
        if permit.entry is not Entry.FREE:
            by_key.setdefault(permit.key, []).append(permit)
    moves = {key: partial(_undone, passings) for key, passings in by_key.items()}
    for key, done in breaker_rows.change_all(moves).items():
        _learn(key, done)


def restore(run_id: UUID, token: int, kept: Any) -> "Passing":
    """Return the permit of a leased run, from the data of `Passing.kept`."""
    key = Key(UUID(kept["workspace"]), kept["target"])
    return Passing(key, Caller(run_id, token, 0), Entry(kept["entry"]), None)


def _call(asked: Asked, target: str) -> WantedCall:
    seconds = asked.work.step.timeout_seconds + engine().grace + SPARE_SECONDS
    key = Key(asked.context.version.workspace_id, target)
    return WantedCall(asked, key, Caller(asked.work.run_id, asked.work.token, seconds))


def _call_or_error(asked: Asked) -> WantedCall | Exception | None:
    try:
        target = target_of(asked)
    except Exception as error:
        return error
    return None if target is None else _call(asked, target)


def _answer(call: WantedCall, entry: Entry, known: Memory) -> "Passing | Wait":
    if entry is Entry.HELD:
        return _hold(call.asked, call.key, known)
    return Passing(call.key, call.caller, entry, known.limits(call.key.target).timeout)


def _answer_or_error(call: WantedCall, entry: Entry, known: Memory) -> "Passing | Wait | Exception":
    try:
        return _answer(call, entry, known)
    except StepError as error:
        return error


def target_of(asked: Asked) -> str | None:
    """Return the step's target, shortened and without secrets; None if the step has no target."""
    if asked.inputs is None:
        return None
    target = asked.module.circuit_with(asked.inputs, asked.credential)
    if not target:
        return None
    return storable_text(asked.scrub.message(target) if asked.scrub else target, LONGEST_TARGET)


@dataclass(frozen=True, slots=True)
class Passing:
    """An allowed call, which reports its end to the target's circuit."""

    key: Key
    caller: Caller
    entry: Entry
    timeout: float | None

    @property
    def kept(self) -> dict[str, str]:
        """Return the data from which `restore` creates this permit again."""
        workspace = str(self.key.workspace_id)
        return {"workspace": workspace, "target": self.key.target, "entry": self.entry.value}

    def undo(self) -> None:
        """Release the permit of a call that was not made."""
        if self.entry is not Entry.FREE:
            self._move(partial(_undone, [self]))

    def lost(self) -> None:
        """Release the permit of a call whose end is unknown, so that another call may run."""
        self.undo()

    def ended(self, failure: Failure | None) -> None:
        """Count a failure of the target; every other end, even a rejection, counts as an answer."""
        known = memory()
        if failure is not None and failure.error_type in COUNTED:
            limits = known.limits(self.key.target)
            answers = known.tallies.take(self.key, limits.window)
            self._move(
                lambda circuit, now: failed(
                    circuit,
                    self.entry,
                    self.caller,
                    failure.message,
                    limits,
                    now,
                    answers=answers,
                )
            )
        elif self.entry is not Entry.FREE or known.guards(self.key):
            self._move(lambda circuit, now: answered(circuit, self.entry, self.caller, now))
        else:
            known.tallies.count(self.key, known.limits(self.key.target).window)

    def _move(self, move: breaker_rows.Move) -> None:
        """Change the circuit; if it becomes free, wake its held runs."""
        _learn(self.key, breaker_rows.change(self.key, move))


def _undone(passings: Sequence[Passing], circuit: Circuit, now: datetime) -> Circuit:
    """Return the circuit without the permits of these calls, which were not made or were lost."""
    for passing in passings:
        circuit = undone(circuit, passing.entry, passing.caller, now)
    return circuit


def _learn(key: Key, done: breaker_rows.Change) -> None:
    """Remember a changed circuit; if it became free, wake its held runs after the commit."""
    memory().note(key, done.after, done.now)
    if free(done.after, done.now) and not free(done.before, done.now):
        transaction.on_commit(partial(wake, key), robust=True)


def _hold(asked: Asked, key: Key, known: Memory) -> Wait:
    """Return the wait of a held step, limited to the step's remaining time.

    Raises StepError if no time remains.
    """
    circuit = known.circuit(key)
    held = asked.work.held_seconds
    most = asked.work.step.circuit_wait_seconds
    left = (config().wait if most is None else most) - held
    if left <= 0:
        raise given_up(key.target, circuit, held)
    facts = {
        "target": key.target,
        "state": circuit.state,
        "nextRetryAt": iso(circuit.next_retry_at),
        "since": iso(circuit.opened_at),
    }
    return Wait(WaitKind.CIRCUIT, seconds=left, key=key.target, facts=facts)


def given_up(target: str, circuit: Circuit, held: float) -> StepError:
    """Return the failure of a step that was held for the maximum time."""
    how = "has not answered yet" if circuit.opened_at is None else "rests"
    since = "" if circuit.opened_at is None else f" since {at(circuit.opened_at)}"
    error = f" Its last failure: {sentence(circuit.last_error)}" if circuit.last_error else ""
    return StepError(
        f"{target} {how}{since}, and this step was held for {held:,.0f} s, the maximum "
        f"(circuitWaitSeconds).{error} Fix the target or reset its circuit, then requeue the "
        "dead letter.",
        ErrorType.CIRCUIT_OPEN,
        details={
            "target": target,
            "heldSeconds": round(held, 3),
            "since": iso(circuit.opened_at),
            "nextRetryAt": iso(circuit.next_retry_at),
            "lastError": brief(circuit.last_error),
        },
    )


# Duties of the sweeper: wake held steps, and delete obsolete circuits.


KEPT = timedelta(days=30)
SWEPT_AT_ONCE = 1_000


def wake_held() -> int:
    """Wake as many held runs of each target as may call it now; return their number.

    Also remove expired failures, so that the list that workers read stays short.
    """
    statements.fetch("clear_expired_failures", {"batch": SWEPT_AT_ONCE})
    enabled = config().enabled
    found = statements.fetch("targets_to_wake", {"batch": SWEPT_AT_ONCE, "whatever": not enabled})
    if found:
        memory().refresh()
    return sum(
        each(f"what is held for {target}", _serve, Key(workspace_id, target), enabled)
        for workspace_id, target in found
    )


def forget_unused() -> int:
    """Delete at most 1,000 clean circuits that are older than a month; return their number.

    Otherwise, the rows of targets that were called only once would never be deleted.
    """
    before = first_id_at(datetime.now(UTC), -KEPT)
    return len(
        statements.fetch("delete_clean_circuits", {"before": before, "batch": SWEPT_AT_ONCE})
    )


def _serve(key: Key, enabled: bool) -> int:
    """Wake as many held runs as the circuit allows; return their number.

    If circuit breakers are off, the circuit does not limit the number.
    """
    if not enabled:
        return wake(key)
    return wake_some(key, memory().limits(key.target))


# Close a circuit manually: clear its failures and wake held steps.
#
# The state of the target is then unknown. So only as many steps may call it as it may have
# failures, until it has answered; then all steps may.


def reset(pk: UUID, *, actor: Actor, reason: str = "") -> int:
    """Close a circuit and wake as many held runs as it then allows; return their number.

    Raises NotFound. Afterwards, the target counts as one that has never answered, even if its
    circuit was closed.
    """
    row = CircuitBreaker.objects.filter(pk=pk).only("workspace_id", "target").first()
    if row is None:
        raise NotFound(f"There is no circuit breaker {pk}.")
    key = Key(row.workspace_id, row.target)
    with transaction.atomic():
        done = breaker_rows.change(key, lambda circuit, _: closed(circuit))
        record(
            actor,
            "circuit.reset",
            workspace_id=key.workspace_id,
            object_type="CircuitBreaker",
            object_id=done.id,
            reason=reason,
            before={"state": done.before.state, "failures": done.before.failures},
            after={"state": done.after.state, "failures": done.after.failures},
            details={"target": key.target, "lastError": done.before.last_error[:500]},
        )
    known = memory()
    known.refresh()
    known.note(key, done.after, done.now)
    return wake_some(key, known.limits(key.target))
