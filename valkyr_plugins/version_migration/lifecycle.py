"""Create migrations and change their state; each change is checked under the migration's lock.

Only this module writes the state. Its functions lock the migration before other rows; the driver
holds the migration's lock for one execution at a time.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from executions.public.access import Actor, record
from executions.public.database import (
    ClockTimestamp,
    database_now,
    delete_without_cascade,
    transaction,
)
from executions.public.errors import NotFound, WrongState
from executions.public.models import Workflow
from valkyr_plugins.version_migration import statements
from valkyr_plugins.version_migration.models import (
    MOVES,
    ExecutionMigration,
    MigratedExecution,
    MigratedState,
    MigrationState,
)
from valkyr_plugins.version_migration.plan import (
    MOST,
    InvalidMigration,
    MigrationPlan,
    live_on,
    versions,
)

State = MigrationState
DRIVER = Actor.system("migrations")
DRAFT_HOURS = 24
FORGOTTEN_AT_ONCE = 100


def make(workflow: Workflow, plan: MigrationPlan, *, actor: Actor) -> ExecutionMigration:
    """Create a draft migration of the source version's live executions; at most the oldest `MOST`.

    With `plan.ids`, it contains only these. A draft that is not started is deleted after a day.
    Raises NotFound or InvalidMigration.
    """
    source, target = versions(workflow, plan)
    with transaction.atomic():
        migration = ExecutionMigration.objects.create(
            workspace_id=workflow.workspace_id,
            workflow_id=workflow.pk,
            source=source,
            target=target,
            names=dict(plan.names),
            created_by_id=actor.user_id,
            created_by_name=actor.name[:200],
            reason=plan.reason,
            rate=plan.rate,
            canary=plan.canary,
            patience_seconds=plan.patience_seconds,
        )
        asked = {
            "migration": migration.pk,
            "workspace": workflow.workspace_id,
            "workflow": workflow.pk,
            "version": source.pk,
            "ids": list(plan.ids) or None,
            "most": MOST,
        }
        migration.total = len(statements.fetch("insert_executions", asked))
        if not migration.total:
            raise InvalidMigration(
                f"No live execution is on version {source.number}, so there is nothing to migrate.",
                [],
            )
        migration.truncated = migration.total == MOST and live_on(source)[MOST:].exists()
        migration.save(update_fields=["total", "truncated"])
        record(
            actor,
            "migration.make",
            workspace_id=migration.workspace_id,
            object_type=ExecutionMigration.AUDITED_AS,
            object_id=migration.pk,
            reason=plan.reason,
            details={
                "workflow": str(workflow.pk),
                "version": source.number,
                "target": target.number,
                "executions": migration.total,
                "steps": dict(plan.names),
            },
        )
    migration.refresh_from_db()
    return migration


def start(migration_id: UUID, *, actor: Actor, reason: str = "") -> ExecutionMigration:
    """Start a migration. Raises NotFound or WrongState."""
    return _moved(migration_id, "start", actor, reason, State.RUNNING, State.DRAFT)


def pause(migration_id: UUID, *, actor: Actor, reason: str = "") -> ExecutionMigration:
    """Pause a migration; no further executions move until it is resumed.

    Raises NotFound or WrongState.
    """
    return _moved(migration_id, "pause", actor, reason, State.PAUSED, State.RUNNING)


def resume(migration_id: UUID, *, actor: Actor, reason: str = "") -> ExecutionMigration:
    """Resume a migration after a pause or after its canaries. Raises NotFound or WrongState."""
    return _moved(migration_id, "resume", actor, reason, State.RUNNING, State.PAUSED)


def cancel(migration_id: UUID, *, actor: Actor, reason: str = "") -> ExecutionMigration:
    """Cancel a migration; moved executions are not moved back. Raises NotFound or WrongState."""
    return _moved(
        migration_id, "cancel", actor, reason, State.CANCELLED, *_sources(State.CANCELLED)
    )


def hold_after_canary(migration: ExecutionMigration) -> None:
    """Pause a running migration after its canaries; the caller holds the migration's lock."""
    many = f"{migration.canary:,} executions were moved. Check them"
    first = "execution was moved. Check it" if migration.canary == 1 else many
    reason = f"The first {first}, then resume the migration."
    _move(migration, State.PAUSED, pause_reason=reason, canary_done=True)
    _note(migration, "pause", DRIVER, reason, State.RUNNING)


def finish(migration: ExecutionMigration) -> None:
    """Set a running migration to DONE after its last execution; the caller holds the lock."""
    _move(migration, State.DONE, finished_at=ClockTimestamp())
    _note(migration, "done", DRIVER, "", State.RUNNING)


def forget_drafts() -> int:
    """Delete up to 100 draft migrations that are more than a day old; return their number."""
    old = database_now() - timedelta(hours=DRAFT_HOURS)
    drafts = ExecutionMigration.objects.filter(state=State.DRAFT, created_at__lt=old)
    ids = list(drafts.order_by("created_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
    return sum(_forget(pk) for pk in ids)


def _forget(migration_id: UUID) -> int:
    with transaction.atomic():
        rows = ExecutionMigration.objects.select_for_update(no_key=True, skip_locked=True)
        draft = rows.filter(pk=migration_id, state=State.DRAFT).first()
        if draft is None:
            return 0
        # Delete all rows at once, not row by row as Django's cascade would.
        delete_without_cascade(MigratedExecution.objects.filter(migration=draft))
        draft.delete()
    return 1


def _sources(target: MigrationState) -> tuple[MigrationState, ...]:
    return tuple(state for state in State if target in MOVES[state])


def _moved(
    migration_id: UUID,
    verb: str,
    actor: Actor,
    reason: str,
    target: MigrationState,
    *sources: MigrationState,
) -> ExecutionMigration:
    with transaction.atomic():
        migration = _locked(migration_id, verb, sources)
        before = migration.state
        changes: dict[str, Any] = {"pause_reason": ""}
        if target == State.RUNNING:
            changes |= {"pace_since": None, "pace_sent": 0}
        if verb == "start":
            changes |= {"started_at": ClockTimestamp()}
        if target == State.CANCELLED:
            changes |= {"finished_at": ClockTimestamp()}
            MigratedExecution.objects.filter(
                migration=migration, state=MigratedState.QUEUED
            ).update(state=MigratedState.CANCELLED, ended_at=ClockTimestamp())
        _move(migration, target, **changes)
        _note(
            migration, verb, actor, reason or (migration.reason if verb == "start" else ""), before
        )
    return ExecutionMigration.objects.get(pk=migration_id)


def _locked(
    migration_id: UUID, verb: str, sources: tuple[MigrationState, ...]
) -> ExecutionMigration:
    rows = ExecutionMigration.objects.select_for_update(no_key=True)
    migration = rows.filter(pk=migration_id).first()
    if migration is None:
        raise NotFound(f"There is no migration {migration_id}.")
    if migration.state not in sources:
        raise WrongState(
            f"Migration {migration_id} cannot {verb}: it is {migration.state}, and must be "
            f"{' or '.join(sources)}.",
            migration.state,
        )
    return migration


def _move(migration: ExecutionMigration, target: MigrationState, **changes: Any) -> None:
    rows = ExecutionMigration.objects.filter(pk=migration.pk, state=migration.state)
    moved = rows.update(state=target, **changes)
    assert moved == 1, "the row is locked"
    migration.state = target


def _note(migration: ExecutionMigration, verb: str, actor: Actor, reason: str, before: str) -> None:
    record(
        actor,
        f"migration.{verb}",
        workspace_id=migration.workspace_id,
        object_type=ExecutionMigration.AUDITED_AS,
        object_id=migration.pk,
        reason=reason,
        before={"state": str(before)},
        after={"state": str(migration.state)},
    )
