"""Asks before a step's module runs whether its target rests, and hears how the call ended."""

from dataclasses import dataclass
from functools import lru_cache

from runners.public.explain import at, brief, iso, sentence
from runners.public.gates import LONGEST_TARGET, Asked, Failure, Wait, storable_text
from runners.public.gates import config as engine
from runners.public.models import WaitKind
from runners.public.modules import ErrorType, StepError
from valkyr_plugins.circuits import holding, ledger
from valkyr_plugins.circuits.breaker import (
    Caller,
    Circuit,
    Entry,
    answered,
    enter,
    failed,
    free,
    undone,
)
from valkyr_plugins.circuits.conf import config
from valkyr_plugins.circuits.memory import Key, Memory

COUNTED = frozenset({ErrorType.TRANSIENT, ErrorType.TIMEOUT})
# A call may end a little after its time-out; what is given up too early is counted twice.
SPARE_SECONDS = 5.0


@lru_cache(maxsize=1)
def memory() -> Memory:
    """What this process knows of circuits."""
    return Memory(ledger.picture, config().base)


def ask(asked: Asked) -> "Passing | Wait | None":
    """Let a step call its target, or hold it while that rests.

    Raises StepError (CIRCUIT_OPEN) where it was held for as long as it may be.
    """
    target = target_of(asked) if config().enabled else None
    if target is None:
        return None
    known = memory()
    known.refresh()
    key = Key(asked.context.version.workspace_id, target)
    seconds = asked.work.step.timeout_seconds + engine().grace + SPARE_SECONDS
    caller = Caller(asked.work.run_id, asked.work.token, seconds)
    entry = known.entry(key, caller) or _enter(key, caller, known)
    if entry is Entry.HELD:
        return _hold(asked, key, known)
    return Passing(key, caller, entry, known.limits(target).timeout)


def target_of(asked: Asked) -> str | None:
    """What the step will call, as its breaker is named: without secrets, fit to be stored."""
    if asked.inputs is None:
        return None
    target = asked.module.circuit_with(asked.inputs, asked.credential)
    if not target:
        return None
    return storable_text(asked.scrub.message(target) if asked.scrub else target, LONGEST_TARGET)


@dataclass(frozen=True, slots=True)
class Passing:
    """A call that was let through; it tells its circuit how it ended."""

    key: Key
    caller: Caller
    entry: Entry
    timeout: float | None

    def undo(self) -> None:
        """It was not made."""
        if self.entry is not Entry.FREE:
            self._move(lambda circuit, now: undone(circuit, self.entry, self.caller, now))

    def ended(self, failure: Failure | None) -> None:
        """Count a failure of the target; anything else is an answer, even a refusal."""
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

    def _move(self, move: ledger.Move) -> None:
        """Change the circuit; who was held for it goes on if that set it free."""
        done = ledger.change(self.key, move)
        memory().note(self.key, done.after, done.now)
        if free(done.after, done.now) and not free(done.before, done.now):
            holding.wake(self.key)


def _enter(key: Key, caller: Caller, known: Memory) -> Entry:
    """Look at the circuit; where the call needs a place or is to probe, take it."""
    limits = known.limits(key.target)
    circuit, now = ledger.look(key)
    entry = enter(circuit, caller, limits, now)[1]
    if entry in (Entry.FREE, Entry.HELD):
        known.note(key, circuit, now)
        return entry
    done = ledger.change(key, lambda circuit, now: enter(circuit, caller, limits, now)[0])
    known.note(key, done.after, done.now)
    return enter(done.before, caller, limits, done.now)[1]


def _hold(asked: Asked, key: Key, known: Memory) -> Wait:
    """Sleep until somebody wakes it, at the latest when it has been held for as long as it may."""
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
    """The failure of a step whose target rested for longer than the step may be held."""
    how = "is not known to answer" if circuit.opened_at is None else "rests"
    since = "" if circuit.opened_at is None else f" since {at(circuit.opened_at)}"
    error = f" Its last failure: {sentence(circuit.last_error)}" if circuit.last_error else ""
    return StepError(
        f"{target} {how}{since}, and this step was held for {held:,.0f} s, as long as it may be "
        f"(circuitWaitSeconds).{error} Mend the target or reset its circuit, then requeue "
        "the dead letter.",
        ErrorType.CIRCUIT_OPEN,
        details={
            "target": target,
            "heldSeconds": round(held, 3),
            "since": iso(circuit.opened_at),
            "nextRetryAt": iso(circuit.next_retry_at),
            "lastError": brief(circuit.last_error),
        },
    )
