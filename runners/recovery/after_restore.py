"""Prepare a database that was restored from a backup, once, before any worker starts.

A restored database issues lease tokens again that it already issued after the backup. A worker from
before the restore could hold the same token as a new worker and renew that worker's lease. The
command therefore increases every live run's token by more than a token can grow in a run's
lifetime. Sessions that ended after the backup would be open again, so the command ends all
sessions.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import Max

from executions.access.actor import Actor, record
from executions.accounts.sessions import end_all
from executions.audit import seals
from executions.database import connection, transaction
from executions.models import WorkflowExecution
from runners.statements import fetch

# More claims than a run can ever have. Lease tokens have 32 bits.
LEAP = 1_000_000
BATCH = 5_000
FIRST = UUID(int=0)


class StillConnected(Exception):
    """Valkyr processes are still connected to the database and must be stopped first."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The numbers of fenced runs and ended sessions, and the time of the newest execution."""

    runs: int
    sessions: int
    newest: datetime | None


def settle(actor: Actor, *, force: bool = False) -> Restored:
    """Fence all lease holders, end all sessions, and record the restore. Call it once per restore.

    Raises StillConnected if Valkyr processes are connected: old workers, or new workers that
    started too early. With `force`, the function continues anyway; the steps of these workers then
    run again.
    """
    others = connected()
    if others and not force:
        raise StillConnected(
            f"{len(others)} processes of Valkyr are connected to this database "
            f"({', '.join(sorted(set(others))[:5])}). Stop them first: workers from before the "
            "restore must not continue."
        )
    runs = sum(_leap())
    with transaction.atomic():
        Session.objects.all().delete()
        sessions = end_all()
        newest = WorkflowExecution.objects.aggregate(at=Max("created_at"))["at"]
        record(
            actor,
            "installation.restored",
            workspace_id=None,
            object_type="Installation",
            object_id="",
            after={"runs": runs, "sessions": sessions},
        )
    # The server may repeat transaction IDs. So seal all unsealed audit rows, including this one.
    seals.seal_after_restore()
    return Restored(runs, sessions, newest)


def connected() -> list[str]:
    """Return the application names of Valkyr's other sessions in this database, at most 100."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT application_name FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND application_name LIKE 'valkyr-%%' ORDER BY 1 LIMIT 100",
            [],
        )
        return [name for (name,) in cursor.fetchall()]


def _leap() -> list[int]:
    """Fence the live runs in batches, one transaction each; return the sizes of the batches."""
    done, after = [], FIRST
    while found := fetch("fence_after_restore", {"after": after, "most": BATCH, "leap": LEAP}):
        done.append(len(found))
        after = max(row[0] for row in found)
    return done
