"""Ask circuits whether calls may be made, and change circuits under their locks if necessary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from runners.public.gates import Asked
from runners.public.targets import TargetLimits
from valkyr_plugins.circuits import breaker_rows
from valkyr_plugins.circuits.breaker import Caller, Circuit, Entry, enter
from valkyr_plugins.circuits.memory import Key, Memory


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A step that wants to call its target."""

    asked: Asked
    key: Key
    caller: Caller


def enter_one(call: WantedCall, known: Memory) -> Entry:
    """Decide whether one call may run; return the decision.

    Read the target's circuit; count the call as a trial or as the probe if necessary.
    """
    limits = known.limits(call.key.target)
    circuit, now = breaker_rows.look(call.key)
    entry = enter(circuit, call.caller, limits, now)[1]
    if entry in (Entry.FREE, Entry.HELD):
        known.note(call.key, circuit, now)
        return entry
    done = breaker_rows.change(
        call.key, lambda circuit, now: enter(circuit, call.caller, limits, now)[0]
    )
    known.note(call.key, done.after, done.now)
    return enter(done.before, call.caller, limits, done.now)[1]


def enter_all(calls: Mapping[Key, Sequence[WantedCall]], known: Memory) -> dict[UUID, Entry]:
    """Decide whether several calls may run; return the decisions, keyed by run ID.

    Calls to the same target are considered in the order of their list.
    """
    if not calls:
        return {}
    circuits, now = breaker_rows.look_all(calls)
    entries: dict[UUID, Entry] = {}
    moves: dict[Key, breaker_rows.Move] = {}
    for key, of in calls.items():
        circuit = circuits.get(key, Circuit())
        entry = enter(circuit, of[0].caller, known.limits(key.target), now)[1]
        if entry in (Entry.FREE, Entry.HELD):
            known.note(key, circuit, now)
            entries |= dict.fromkeys((call.caller.run_id for call in of), entry)
        else:
            moves[key] = partial(_entered, of, known.limits(key.target), entries)
    for key, done in breaker_rows.change_all(moves).items():
        known.note(key, done.after, done.now)
    return entries


def _entered(
    calls: Sequence[WantedCall],
    limits: TargetLimits,
    entries: dict[UUID, Entry],
    circuit: Circuit,
    now: datetime,
) -> Circuit:
    """Decide whether each call may run, and return the new circuit.

    The decisions are stored in `entries`, keyed by run ID.
    """
    for call in calls:
        circuit, entries[call.caller.run_id] = enter(circuit, call.caller, limits, now)
    return circuit
