"""Create redrives and change their state; each change is checked under the redrive's lock.

Only this module writes the state. Its functions lock the redrive before other rows, such as its
failure groups; the driver holds the redrive's lock for one batch at a time.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from dlq.public.events import StoppedRedrive, redrive_stopped
from dlq.public.models import DeadLetterEntry, Resolution
from dlq.public.resolving import begin_redrive, end_redrive
from executions.public import addresses
from executions.public.access import Actor, record
from executions.public.database import (
    AdvisoryLock,
    ClockTimestamp,
    connection,
    database_now,
    delete_without_cascade,
    hold,
    transaction,
)
from executions.public.errors import NotFound, WrongState
from runners.public.repair import names_of
from valkyr_plugins.redrive import statements
from valkyr_plugins.redrive.models import MOVES, ItemState, Redrive, RedriveItem, RedriveState
from valkyr_plugins.redrive.options import MOST, InvalidRedrive, RedriveOptions, check

State = RedriveState
DRIVER = Actor.system("redrives")


def start(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Start a redrive and hold its entries; skip entries that are closed or already held.

    Raises NotFound or WrongState.
    """
    with transaction.atomic():
        redrive = _locked(redrive_id, "start", State.RUNNING, State.DRAFT)
        # Prevent two redrives from holding the same entry.
        hold(AdvisoryLock.REDRIVE_HOLDS, f"redrives of {redrive.workspace_id}")
        redrive.skipped = _hold(redrive)
        _move(redrive, State.RUNNING, started_at=ClockTimestamp(), busy=True)
        begin_redrive(_groups(redrive))
        _note(redrive, "start", actor, reason or redrive.reason, State.DRAFT)
    return _fresh(redrive_id)


def pause(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Pause a redrive; dead letters that were already requeued continue.

    Raises NotFound or WrongState.
    """
    with transaction.atomic():
        redrive = _locked(redrive_id, "pause", State.PAUSED)
        before = redrive.state
        _move(redrive, State.PAUSED)
        _note(redrive, "pause", actor, reason, before)
    return _fresh(redrive_id)


def resume(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Resume a redrive that was paused, or that stopped after too many failures.

    After a stop, failures are counted from zero. Raises NotFound or WrongState.
    """
    with transaction.atomic():
        redrive = _locked(redrive_id, "resume", State.RUNNING, State.PAUSED, State.STOPPED)
        before = redrive.state
        changes: dict[str, Any] = {"pace_since": None, "pace_sent": 0, "busy": True}
        if before == State.STOPPED:
            changes |= {"recent": "", "stop_reason": ""}
            begin_redrive(_groups(redrive))
        _move(redrive, State.RUNNING, **changes)
        _note(redrive, "resume", actor, reason, before)
    return _fresh(redrive_id)


def abort(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Abort a redrive; dead letters that were already requeued continue.

    Raises NotFound or WrongState.
    """
    with transaction.atomic():
        redrive = _locked(redrive_id, "abort", State.ABORTED)
        before = redrive.state
        RedriveItem.objects.filter(redrive=redrive, state=ItemState.QUEUED).update(
            state=ItemState.ABORTED, active=None, ended_at=ClockTimestamp()
        )
        _move(redrive, State.ABORTED, finished_at=ClockTimestamp(), busy=redrive.running > 0)
        if before in {State.RUNNING, State.PAUSED}:
            end_redrive(_groups(redrive), False)
        _note(redrive, "abort", actor, reason, before)
    return _fresh(redrive_id)


def stop(redrive: Redrive, reason: str) -> None:
    """Move a redrive from RUNNING to STOPPED after too many failures; the caller holds the lock."""
    _move(redrive, State.STOPPED, stop_reason=reason)
    end_redrive(_groups(redrive), False)
    _note(redrive, "stop", DRIVER, reason, State.RUNNING)
    redrive_stopped.send(
        Redrive,
        stopped=StoppedRedrive(
            redrive_id=redrive.pk,
            workspace_id=redrive.workspace_id,
            group_id=redrive.group_id,
            total=redrive.total,
            created_by=redrive.created_by_name,
            reason=reason,
            path=addresses.page("valkyr_redrive_redrive", redrive.pk),
        ),
    )


def finish(redrive: Redrive) -> None:
    """Move a redrive from RUNNING to DONE after the last entry; the caller holds the lock."""
    _move(redrive, State.DONE, finished_at=ClockTimestamp(), busy=False)
    end_redrive(_groups(redrive), redrive.succeeded > 0 and redrive.failed_again == 0)
    _note(redrive, "done", DRIVER, "", State.RUNNING)


def _locked(redrive_id: UUID, verb: str, target: RedriveState, *sources: RedriveState) -> Redrive:
    """Lock and return the redrive if it may move to `target` (from `sources`, if any are given).

    Raises NotFound or WrongState.
    """
    redrive = Redrive.objects.select_for_update(no_key=True).filter(pk=redrive_id).first()
    if redrive is None:
        raise NotFound(f"There is no redrive {redrive_id}.")
    allowed = sources or [state for state in State if target in MOVES[state]]
    if redrive.state not in allowed:
        raise WrongState(
            f"Redrive {redrive_id} cannot {verb}: it is {redrive.state}, and must be "
            f"{' or '.join(allowed)}.",
            redrive.state,
        )
    return redrive


def _move(redrive: Redrive, target: RedriveState, **changes: Any) -> None:
    moved = Redrive.objects.filter(pk=redrive.pk, state=redrive.state).update(
        state=target, skipped=redrive.skipped, **changes
    )
    assert moved == 1, "the row is locked"
    redrive.state = target


def _groups(redrive: Redrive) -> list[UUID]:
    """Return the IDs of the groups to which the redrive's entries belong. Uses one query."""
    entries = DeadLetterEntry.objects.filter(redrive_items__redrive=redrive)
    return list(entries.order_by("group_id").values_list("group_id", flat=True).distinct())


def _note(redrive: Redrive, verb: str, actor: Actor, reason: str, before: str) -> None:
    record(
        actor,
        f"redrive.{verb}",
        workspace_id=redrive.workspace_id,
        object_type=Redrive.AUDITED_AS,
        object_id=redrive.pk,
        reason=reason,
        before={"state": str(before)},
        after={"state": str(redrive.state)},
    )


def _fresh(redrive_id: UUID) -> Redrive:
    return Redrive.objects.get(pk=redrive_id)


def _hold(redrive: Redrive) -> int:
    """Hold the entries that are open and that no redrive holds; skip the others with a reason.

    Return the number of skipped entries. The caller holds the lock that serializes the starts of
    redrives in the workspace.
    """
    row = statements.fetch_one("hold_dead_letters", {"redrive": redrive.pk})
    assert row is not None, "it counts"
    return int(row[0])


# Create a redrive: its entries are fixed, but nothing runs yet.


NOTHING = "None of the chosen dead letters is open, so there is nothing to redrive."
SEVERAL = (
    "The chosen dead letters belong to several workspaces. Create one redrive for each workspace."
)
DRAFT_HOURS = 24
FORGOTTEN_AT_ONCE = 100

INSERT = (
    "INSERT INTO dlq_redriveitem (redrive_id, entry_id, state, reason) "
    "SELECT %s, chosen.id, 'QUEUED', '' FROM ({}) AS chosen(id) ORDER BY chosen.id"
)


def make(rows: QuerySet[DeadLetterEntry], wish: RedriveOptions, *, actor: Actor) -> Redrive:
    """Create a draft redrive of the open entries in `rows`; at most `MOST`, the oldest first.

    The caller must be permitted to redrive the entries, which must belong to one workspace. A draft
    is deleted after a day. Raises InvalidRedrive.
    """
    check(wish)
    rows = _open(rows)
    with transaction.atomic():
        first = rows.values_list("workspace_id", flat=True).first()
        if first is None:
            raise InvalidRedrive(NOTHING, [])
        redrive = _new(first, wish, actor)
        redrive.save(force_insert=True)
        redrive.total = _freeze(redrive, rows)
        redrive.truncated = redrive.total == MOST and rows[MOST:].exists()
        redrive.save(update_fields=["total", "truncated"])
        _require_one_workspace(redrive)
        record(
            actor,
            "redrive.make",
            workspace_id=redrive.workspace_id,
            object_type=Redrive.AUDITED_AS,
            object_id=redrive.pk,
            reason=wish.reason,
            # Without the selection and the changes, which may contain payloads. Users with the
            # permission see them in the redrive.
            details={
                "entries": redrive.total,
                "scope": str(redrive.scope),
                "fromStep": redrive.from_step,
                "version": redrive.version,
                "overrides": names_of(wish.overrides or {}),
                "expression": bool(wish.expression),
            },
        )
    redrive.refresh_from_db()
    return redrive


def unsaved(
    rows: QuerySet[DeadLetterEntry], wish: RedriveOptions, *, actor: Actor
) -> tuple[Redrive, list[UUID]]:
    """Return the redrive that `make` would create, and its entries' IDs; write nothing.

    Raises InvalidRedrive.
    """
    check(wish)
    found = list(_open(rows).values_list("pk", "workspace_id")[: MOST + 1])
    if not found:
        raise InvalidRedrive(NOTHING, [])
    entries = [pk for pk, _ in found[:MOST]]
    redrive = _new(found[0][1], wish, actor)
    redrive.total, redrive.truncated = len(entries), len(found) > MOST
    if len({workspace_id for _, workspace_id in found[:MOST]}) > 1:
        raise InvalidRedrive(SEVERAL, [])
    return redrive, entries


def _open(rows: QuerySet[DeadLetterEntry]) -> QuerySet[DeadLetterEntry]:
    return rows.filter(resolution=Resolution.PENDING).order_by("pk")


def forget_drafts() -> int:
    """Delete up to 100 draft redrives that are more than a day old; return their number."""
    old = database_now() - timedelta(hours=DRAFT_HOURS)
    drafts = Redrive.objects.filter(state=RedriveState.DRAFT, created_at__lt=old)
    ids = list(drafts.order_by("created_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
    return sum(_forget(pk) for pk in ids)


def _forget(redrive_id: UUID) -> int:
    with transaction.atomic():
        rows = Redrive.objects.select_for_update(no_key=True, skip_locked=True)
        draft = rows.filter(pk=redrive_id, state=RedriveState.DRAFT).first()
        if draft is None:
            return 0
        # Delete all items at once, not row by row as Django's cascade would.
        items = RedriveItem.objects.filter(redrive=draft)
        delete_without_cascade(items)
        draft.delete()
    return 1


def _new(workspace_id: UUID, wish: RedriveOptions, actor: Actor) -> Redrive:
    return Redrive(
        workspace_id=workspace_id,
        group_id=wish.group_id,
        created_by_id=actor.user_id,
        created_by_name=actor.name[:200],
        reason=wish.reason,
        selection=wish.selection,
        scope=wish.scope,
        from_step=wish.from_step,
        version=str(wish.version),
        overrides=wish.overrides or None,
        expression=wish.expression,
        rate=wish.rate,
        max_in_flight=wish.max_in_flight,
        canary=wish.canary,
        stop_above=wish.stop_above,
        stop_window=wish.stop_window,
    )


def _freeze(redrive: Redrive, rows: QuerySet[DeadLetterEntry]) -> int:
    """Insert the redrive's items with one statement; return their number."""
    sql, params = rows.values("pk")[:MOST].query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(INSERT.format(sql), [redrive.pk, *params])
        return int(cursor.rowcount)


def _require_one_workspace(redrive: Redrive) -> None:
    others = RedriveItem.objects.filter(redrive=redrive).exclude(
        entry__workspace_id=redrive.workspace_id
    )
    if others.exists():
        raise InvalidRedrive(SEVERAL, [])
