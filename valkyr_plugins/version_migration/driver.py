"""The duty that drives migrations: move queued executions at the set pace, one transaction each.

The transaction that moves an execution also records its result and the counters. So after a crash,
the next turn continues with the first execution that is still queued.
"""

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import Q

from executions.public.access import Actor
from executions.public.database import (
    AdvisoryLock,
    ClockTimestamp,
    alone,
    connection,
    database_now,
    is_locked,
    transaction,
)
from executions.public.errors import ValkyrError
from runners.public.version_changes import NotOnVersion, StepRunning, VersionMove, move_execution
from valkyr_plugins.version_migration import lifecycle, statements
from valkyr_plugins.version_migration.models import (
    ExecutionMigration,
    MigratedExecution,
    MigratedState,
    MigrationState,
)
from valkyr_plugins.version_migration.pace import MigrationPace, due

log = logging.getLogger(__name__)

TURN_SECONDS = 0.6
BATCH = 100
MOST = 100  # maximum running migrations that one turn checks
# The last migration that this process handled; the next turn begins with the migration after it.
_last = UUID(int=0)
AGAIN_SECONDS = 2.0  # delay before another attempt, after a step was found running
# A migration does not wait for other processes: it tries a locked execution again later.
PATIENCE = "SET LOCAL lock_timeout = '250ms'"
COUNTERS = ("moved", "refused", "skipped", "pace_since", "pace_sent")
LONGEST_REASON = 2_000
LONGEST_AT = 500


@dataclass(slots=True)
class MigrationTurn:
    """The number of handled executions, and whether more could be handled immediately."""

    decided: int = 0
    more: bool = False


def drive_alone() -> MigrationTurn:
    """Drive the running migrations briefly, unless another process does; return the result."""
    with alone(AdvisoryLock.EXECUTION_MIGRATIONS) as free:
        return turn() if free else MigrationTurn()


def turn(seconds: float = TURN_SECONDS) -> MigrationTurn:
    """Give the next 100 running migrations equal shares of the time; return the result.

    The oldest migration follows the newest one, so that each has its turn.
    """
    global _last  # noqa: PLW0603 - one a process
    done = MigrationTurn()
    rows = statements.fetch("next_running_migrations", {"after": _last, "most": MOST})
    share = seconds / max(1, len(rows))
    for (migration_id,) in rows:
        _last = migration_id
        try:
            found = carry_on(migration_id, time.monotonic() + share)
        except Exception:
            log.exception("migration %s could not continue; it will be tried again", migration_id)
        else:
            done.decided += found.decided
            done.more |= found.more
    return done


def carry_on(migration_id: UUID, until: float) -> MigrationTurn:
    """Try to move due executions until the monotonic time `until`; return the result.

    At least one due execution is tried, unless the migration cannot continue now.
    """
    done = MigrationTurn()
    while True:
        items = _due(migration_id)
        if not items:
            _finish(migration_id)
            return done
        for item_id, execution_id in items:
            if not decide(migration_id, item_id, execution_id):
                return done
            done.decided += 1
            if time.monotonic() >= until:
                done.more = True
                return done


def decide(migration_id: UUID, item_id: int, execution_id: UUID) -> bool:
    """Move one execution, or record why not; return False if the migration cannot continue now."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(PATIENCE)
        migration = _running(migration_id)
        if migration is None:
            return False
        now = database_now()
        if migration.canary and not migration.canary_done and migration.moved >= migration.canary:
            lifecycle.hold_after_canary(migration)
            return False
        if not _in_time(migration, now):
            return False
        rows = MigratedExecution.objects.select_for_update(no_key=True)
        item = rows.filter(pk=item_id, state=MigratedState.QUEUED).first()
        if item is None:
            return True
        _try(migration, item, execution_id, now)
        migration.save(update_fields=COUNTERS)
    return True


def _running(migration_id: UUID) -> ExecutionMigration | None:
    rows = ExecutionMigration.objects.select_for_update(no_key=True, skip_locked=True)
    return rows.filter(pk=migration_id, state=MigrationState.RUNNING).first()


def _in_time(migration: ExecutionMigration, now: datetime) -> bool:
    """Return whether the rate allows another try; if it does, count the try."""
    if migration.rate is not None:
        pace = MigrationPace(migration.pace_since, migration.pace_sent)
        number, pace = due(pace, migration.rate, now)
        migration.pace_since, migration.pace_sent = pace.since, pace.sent
        if number < 1:
            return False
    migration.pace_since = migration.pace_since or now
    migration.pace_sent += 1
    return True


def _try(
    migration: ExecutionMigration, item: MigratedExecution, execution_id: UUID, now: datetime
) -> None:
    move = VersionMove(migration.source_id, migration.target_id, migration.names)
    actor = Actor(migration.created_by_id, migration.created_by_name, "migration")
    try:
        with transaction.atomic():
            found = move_execution(execution_id, move, actor=actor, reason=migration.reason)
    except StepRunning as error:
        _later(migration, item, error.message, now)
    except NotOnVersion as error:
        _end(migration, item, MigratedState.SKIPPED, error.message)
    except ValkyrError as error:
        _end(migration, item, MigratedState.REFUSED, error.message)
    except (OperationalError, InterfaceError) as error:
        if not is_locked(error):
            raise  # the database itself failed; the next turn tries again
        _later(migration, item, "The execution was locked by another process.", now)
    except Exception as error:
        log.exception("execution %s of migration %s was not moved", execution_id, migration.pk)
        _end(migration, item, MigratedState.REFUSED, f"An internal error: {type(error).__name__}.")
    else:
        _end(migration, item, MigratedState.MOVED, at=", ".join(found.at))


def _later(
    migration: ExecutionMigration, item: MigratedExecution, reason: str, now: datetime
) -> None:
    """Schedule another try, or refuse the execution once `patience_seconds` have passed."""
    item.busy_since = item.busy_since or now
    if (now - item.busy_since).total_seconds() >= migration.patience_seconds:
        _end(migration, item, MigratedState.REFUSED, reason)
        return
    item.not_before = now + timedelta(seconds=AGAIN_SECONDS)
    item.reason = reason[:LONGEST_REASON]
    item.save(update_fields=["busy_since", "not_before", "reason"])


def _end(
    migration: ExecutionMigration,
    item: MigratedExecution,
    state: MigratedState,
    reason: str = "",
    at: str = "",
) -> None:
    MigratedExecution.objects.filter(pk=item.pk).update(
        state=state, reason=reason[:LONGEST_REASON], at=at[:LONGEST_AT], ended_at=ClockTimestamp()
    )
    counter = {MigratedState.MOVED: "moved", MigratedState.REFUSED: "refused"}.get(state, "skipped")
    setattr(migration, counter, getattr(migration, counter) + 1)


def _due(migration_id: UUID) -> list[tuple[int, UUID]]:
    """Return the next due executions, at most 100: pairs of the item's and the execution's ID."""
    rows = MigratedExecution.objects.filter(
        Q(not_before=None) | Q(not_before__lte=database_now()),
        migration_id=migration_id,
        state=MigratedState.QUEUED,
    )
    return list(rows.order_by("id").values_list("pk", "execution_id")[:BATCH])


def _finish(migration_id: UUID) -> None:
    """Finish a running migration, unless executions are still queued."""
    with transaction.atomic():
        migration = _running(migration_id)
        queued = MigratedExecution.objects.filter(
            migration_id=migration_id, state=MigratedState.QUEUED
        )
        if migration is not None and not queued.exists():
            lifecycle.finish(migration)
