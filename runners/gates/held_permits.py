"""Permits of runs that remote runners lease: one row for each lease and gate.

A row is written in the transaction that leases the run, and deleted in the transaction that
notifies the gate of the step's end. Each permit therefore ends once: when the runner reports, or
when the duty `permits` finds that the lease is over, regardless of how the lease ended.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.db import DatabaseError

from executions.database import transaction
from runners import statements
from runners.conf import config
from runners.failures.classification import Failure
from runners.gates import gates
from runners.gates.gates import LeasePassage, LeasePermit
from runners.models import HeldPermit
from runners.states import ErrorType, RunState

log = logging.getLogger(__name__)
BATCH = 500


def keep(given: Iterable[tuple[UUID, int, LeasePassage]]) -> None:
    """Store the permits that must be ended later, in the transaction that leases the runs."""
    HeldPermit.objects.bulk_create(
        HeldPermit(run_id=run_id, token=token, gate=gate.name, kept=permit.kept)
        for run_id, token, passage in given
        for gate, permit in passage.permits
        if permit.kept is not None
    )


def end(run_id: UUID, token: int, failure: Failure | None) -> None:
    """Notify the gates of how a leased run ended; call this after the end is committed."""
    rows = HeldPermit.objects.filter(run_id=run_id, token=token).order_by("-id")
    for row in rows.values_list("pk", "gate", "run_id", "token", "kept"):
        _end(row, lambda permit: permit.ended(failure))


def reclaim() -> int:
    """End at most 500 permits whose lease is over; return how many."""
    limits = config()
    rows = statements.fetch(
        "expired_permits", {"lease": limits.lease, "grace": limits.grace, "batch": BATCH}
    )
    return sum(_end(row[:5], _told(*row[5:])) for row in rows)


def _told(own: bool, state: str, kind: str, error: str) -> Callable[[LeasePermit], None]:
    """Return a function that notifies a permit of how its lease ended, based on the run's row."""
    if own and state == RunState.SUCCESS:
        return lambda permit: permit.ended(None)
    if own and kind:
        failure = Failure(ErrorType(kind), error, "RemoteError")
        return lambda permit: permit.ended(failure)
    return lambda permit: permit.lost()


def _end(row: tuple[Any, ...], tell: Callable[[LeasePermit], None]) -> int:
    """Delete a permit's row and notify its gate, in one transaction.

    Returns 1, or 0 if another process deleted the row or the database failed. Another error of the
    gate is only logged, and the row is deleted: a permit that was not ended expires according to
    the gate's own limit.
    """
    key, gate, run_id, token, kept = row
    mine = HeldPermit.objects.filter(pk=key)
    try:
        with transaction.atomic():
            if not mine.delete()[0]:
                return 0
            permit = gates.restored(gate, run_id, token, kept)
            if permit is not None:
                tell(permit)
    except DatabaseError:
        log.exception("the permit of the gate %r for run %s will be returned again", gate, run_id)
        return 0
    except Exception:
        log.exception("the gate %r could not record the end of run %s", gate, run_id)
        return mine.delete()[0]
    return 1
