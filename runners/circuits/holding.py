"""Steps that are held for a target are woken: as many as may call it now, the oldest first."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction

from runners import statements
from runners.circuits import ledger
from runners.circuits.breaker import called, room
from runners.circuits.memory import Key
from runners.conf import config
from runners.states import WaitKind
from runners.targets.rules import TargetLimits
from runners.waits import wake_runs

BATCH = 200  # woken at once, so that a target that recovers is not run over
COUNTED = 10_000
WOKEN = {"by": "circuit"}


def wake(key: Key, most: int = BATCH) -> int:
    """Wake at most so many of the runs held for a target; returns how many. Holds no breaker."""
    with transaction.atomic():
        found = statements.fetch(
            "circuit_waiting",
            {"target": key.target, "workspace": key.workspace_id, "most": most},
        )
        return wake_runs.wake_all([(run, of) for run, of in found], [WaitKind.CIRCUIT], WOKEN)


def wake_some(key: Key, limits: TargetLimits) -> int:
    """Wake as many as the circuit has room for; they are waited for before more are woken."""
    patience = timedelta(seconds=config().patience)
    done = ledger.change(key, lambda circuit, now: called(circuit, now + patience, now))
    places = room(done.before, limits, done.now)
    return wake(key, BATCH if places is None else min(places, BATCH)) if places != 0 else 0


def held_for(keys: Sequence[Key]) -> dict[Key, int]:
    """How many runs are held for each target, counted up to 10,000; one query."""
    if not keys:
        return {}
    found = statements.fetch(
        "circuit_counts",
        {
            "workspaces": [key.workspace_id for key in keys],
            "targets": [key.target for key in keys],
            "most": COUNTED,
        },
    )
    return {Key(workspace_id, target): held for workspace_id, target, held in found}
