"""A redrive is made: its entries are frozen, nothing runs yet."""

from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from dlq.public.models import DeadLetterEntry, Resolution
from executions.public.access import Actor, record
from executions.public.database import database_now, delete_without_cascade
from runners.public.repair import names_of
from valkyr_plugins.redrive.models import Redrive, RedriveItem
from valkyr_plugins.redrive.states import RedriveState
from valkyr_plugins.redrive.wish import MOST, InvalidRedrive, Wish, check

__all__ = ["DRAFT_HOURS", "MOST", "InvalidRedrive", "Wish", "forget_drafts", "make"]

DRAFT_HOURS = 24
FORGOTTEN_AT_ONCE = 100

INSERT = (
    "INSERT INTO dlq_redriveitem (redrive_id, entry_id, state, reason) "
    "SELECT %s, chosen.id, 'QUEUED', '' FROM ({}) AS chosen(id) ORDER BY chosen.id"
)


def make(rows: QuerySet[DeadLetterEntry], wish: Wish, *, actor: Actor) -> Redrive:
    """A draft of the open entries among `rows`, the oldest `MOST` of them, as they are now.

    `rows` are what the caller may redrive, in one workspace. A draft holds nothing, and is
    deleted after a day. Raises InvalidRedrive.
    """
    check(wish)
    rows = rows.filter(resolution=Resolution.PENDING).order_by("pk")
    with transaction.atomic():
        first = rows.values_list("workspace_id", flat=True).first()
        if first is None:
            raise InvalidRedrive("None of the chosen dead letters is open; nothing to redrive.", [])
        redrive = _insert(first, wish, actor)
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
            # What is chosen and changed may hold payloads: they are in the redrive, for who may.
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


def forget_drafts() -> int:
    """Delete drafts that nobody started for a day; returns how many."""
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
        # Together, not row by row as the cascade would.
        items = RedriveItem.objects.filter(redrive=draft)
        delete_without_cascade(items)
        draft.delete()
    return 1


def _insert(workspace_id: UUID, wish: Wish, actor: Actor) -> Redrive:
    return Redrive.objects.create(
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
    """Insert the items by one statement; how many there are."""
    sql, params = rows.values("pk")[:MOST].query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(INSERT.format(sql), [redrive.pk, *params])
        return int(cursor.rowcount)


def _require_one_workspace(redrive: Redrive) -> None:
    others = RedriveItem.objects.filter(redrive=redrive).exclude(
        entry__workspace_id=redrive.workspace_id
    )
    if others.exists():
        raise InvalidRedrive(
            "The chosen dead letters are of several workspaces; a redrive is of one. Narrow the "
            "choice to one workspace and make a redrive for each.",
            [],
        )
