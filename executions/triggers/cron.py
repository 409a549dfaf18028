"""CRON triggers: beat knocks by the schedule, rows decide whether anything starts.

Beat may knock early, late, twice or not at all (it leaves out times on the days on which clocks
change): `tend` looks every few seconds whether a time passed without a knock, and starts what
waited for its turn. Each time fires once, since its row is unique.
"""

import logging
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.dispatch import receiver

from executions.database import statements
from executions.database.clock import ClockTimestamp
from executions.events import execution_finished
from executions.models import CronTick, Trigger, WorkflowExecution
from executions.states import UNFINISHED, TickStatus, TriggerType
from executions.triggers.cron_rule import QUEUE
from executions.triggers.cron_start import start_due
from executions.triggers.cron_ticks import note

log = logging.getLogger(__name__)
# How many triggers one look serves, and after how many seconds it leaves the rest to the next.
BATCH, SECONDS = 100, 4.0


def fire(trigger_id: UUID) -> CronTick | None:
    """Note what is due and start what may start; nothing happens to a time that has its tick.

    Returns the newest of the new ticks, which says what was started or why nothing was; None when
    nothing was due.
    """
    noted = note(trigger_id)
    if not noted:
        return None
    start_due(trigger_id)
    return CronTick.objects.filter(pk__in=noted).order_by("-fire_at").first()


def tend() -> dict[str, int]:
    """Note the times that nobody knocked for and start ticks whose turn has come; their counts."""
    enough = monotonic() + SECONDS
    return {
        "noted": sum(_each(_note, pk) for pk in takewhile(_before(enough), _overdue())),
        "started": sum(_each(_start, pk) for pk in takewhile(_before(enough), _startable())),
    }


@receiver(execution_finished, dispatch_uid="executions.cron_turns")
def _on_finished(*, execution_id: UUID, trigger_id: UUID | None, **_: Any) -> None:
    if trigger_id is not None:
        transaction.on_commit(partial(_start_behind, execution_id), robust=True)


def _start_behind(ended_id: UUID) -> None:
    """An execution ended: start the tick that waited for it, if one did."""
    row = statements.fetch_one("queued_behind", {"ended": ended_id})
    if row is not None:
        start_due(row[0])


def _overdue() -> list[UUID]:
    rows = Trigger.objects.filter(
        type=TriggerType.CRON, enabled=True, next_at__lte=ClockTimestamp()
    )
    # By chance, so that triggers that cannot be served never hide the others.
    return list(rows.order_by("?").values_list("pk", flat=True)[:BATCH])


def _startable() -> list[UUID]:
    """Triggers with a tick whose time has come, unless it must wait for an execution to end."""
    due = CronTick.objects.filter(
        trigger=OuterRef("pk"), status=TickStatus.QUEUED, start_at__lte=ClockTimestamp()
    )
    unfinished = WorkflowExecution.objects.filter(
        trigger=OuterRef("pk"), state__in=sorted(UNFINISHED), origin=None
    )
    waits = Q(enabled=True, settings__overlap=QUEUE) & Q(Exists(unfinished))
    rows = Trigger.objects.filter(Exists(due), type=TriggerType.CRON).exclude(waits)
    return list(rows.order_by("?").values_list("pk", flat=True)[:BATCH])


def _note(trigger_id: UUID) -> int:
    return len(note(trigger_id, patient=False))


def _start(trigger_id: UUID) -> int:
    return start_due(trigger_id, patient=False)


def _before(enough: float) -> Callable[[UUID], bool]:
    return lambda _: monotonic() < enough


def _each(serve: Callable[[UUID], int], trigger_id: UUID) -> int:
    try:
        return serve(trigger_id)
    except Exception:
        log.exception("could not serve cron trigger %s; going on", trigger_id)
        return 0
