"""Steps that are held for a target are woken: as many as may call it now, the oldest first."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction

from runners.public.gates import config, wake_all
from runners.public.models import WaitKind
from runners.public.targets import TargetLimits
from valkyr_plugins.circuits import ledger, statements
from valkyr_plugins.circuits.breaker import called, room
from valkyr_plugins.circuits.memory import Key

BATCH = 200  # woken at once, so that a target that recovers is not run over
COUNTED = 10_000
WOKEN = {"by": "circuit"}


def wake(key: Key, most: int = BATCH) -> int:
    """Wake at most so many of the runs held for a target; returns how many. Holds no breaker."""
    with transaction.atomic():
        found = statements.fetch(
            "waiting",
            {"target": key.target, "workspace": key.workspace_id, "most": most},
        )
        return wake_all([(run, of) for run, of in found], [WaitKind.CIRCUIT], WOKEN)


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
        "counts",
        {
            "workspaces": [key.workspace_id for key in keys],
            "targets": [key.target for key in keys],
            "most": COUNTED,
        },
    )
    return {Key(workspace_id, target): held for workspace_id, target, held in found}
