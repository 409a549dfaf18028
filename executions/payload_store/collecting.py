"""Delete stored values that no execution needs, one batch after another.

A value is kept while an execution or an event that declared its use exists, or a plugin keeps a
copy of the execution. A batch is marked under row locks, which are released before any file is
deleted. A value that is needed again after its mark gets a new row and a new file.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from executions.configuration import settings as valkyr_settings
from executions.database import transaction
from executions.database.clock import database_now
from executions.models import Event, StoredPayload, StoredPayloadUse, WorkflowExecution
from executions.payload_store import files
from executions.payload_store.writing import file_name

BATCH = 200
TURN_SECONDS = 5.0
# Time after which another collector continues with the values that a lost collector has marked.
ABANDONED = timedelta(minutes=10)
# Plugins that keep copies of deleted executions add a function that returns the rows of these
# copies. The primary key of such a row is the execution's ID.
HOLDERS: list[Callable[[], QuerySet[Any]]] = []


@dataclass(slots=True)
class Collected:
    """The numbers of values checked and deleted, the bytes deleted, and whether more may be due."""

    checked: int = 0
    deleted: int = 0
    size: int = 0
    more: bool = False


@dataclass(frozen=True, slots=True)
class StoredTotals:
    """The number of stored values, their bytes, and the number of unneeded values (`idle`)."""

    values: int
    size: int
    idle: int


def collect(seconds: float = TURN_SECONDS, grace: timedelta | None = None) -> Collected:
    """Delete unneeded values for up to `seconds`. Raises PayloadStoreUnavailable.

    After a failure, every value that an execution needs still exists. Call it outside any
    transaction. Several processes may call it at the same time.
    """
    found = Collected()
    hours = valkyr_settings().payload_grace_hours
    until = time.monotonic() + seconds
    while True:
        checked, due = _marked(timedelta(hours=hours) if grace is None else grace)
        found.checked += checked
        for row in due:
            files.remove(file_name(row.workspace_id, row.digest, row.pk))
        found.deleted += len(due)
        found.size += sum(row.size for row in due)
        StoredPayload.objects.filter(pk__in=[row.pk for row in due]).delete()
        if checked < BATCH:
            return found
        if time.monotonic() > until:
            found.more = True
            return found


def totals() -> StoredTotals:
    """Return the number and the bytes of stored values, and the number of unneeded ones.

    This reads the whole table, so call it only for a user, not in a duty.
    """
    rows = StoredPayload.objects.all()
    size = rows.aggregate(total=Sum("size"))["total"] or 0
    return StoredTotals(rows.count(), size, rows.filter(~Exists(_needed())).count())


def _marked(grace: timedelta) -> tuple[int, list[StoredPayload]]:
    """Check a batch of values, mark the unneeded ones, and commit.

    Returns the number of checked values, and the marked rows.
    """
    now = database_now()
    due = Q(deleting_at=None, checked_at__lte=now - grace) | Q(deleting_at__lte=now - ABANDONED)
    with transaction.atomic():
        rows = StoredPayload.objects.filter(due).order_by("checked_at", "id")
        some = list(rows.select_for_update(skip_locked=True)[:BATCH])
        # A second statement, because it also sees the uses that were committed before the locks
        # were taken.
        ids = [row.pk for row in some]
        here = StoredPayload.objects.filter(pk__in=ids)
        idle = set(here.filter(~Exists(_needed())).values_list("pk", flat=True))
        here.filter(pk__in=idle).update(deleting_at=now, checked_at=now)
        here.exclude(pk__in=idle).update(checked_at=now)
    return len(some), [row for row in some if row.pk in idle]


def _needed() -> QuerySet[StoredPayloadUse]:
    uses = StoredPayloadUse.objects.filter(payload_id=OuterRef("pk"))
    holding = (
        WorkflowExecution.objects.all(),
        Event.objects.all(),
        *(holders() for holders in HOLDERS),
    )
    exists = (Exists(rows.filter(pk=OuterRef("holder_id"))) for rows in holding)
    return uses.filter(reduce(or_, (Q(one) for one in exists)))
