"""Helpers that create dead letters, and drive redrives of them turn by turn."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from dlq.models import DeadLetterEntry
from executions.models import Workspace
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, publish, start_many
from valkyr_plugins.redrive import driver, lifecycle
from valkyr_plugins.redrive.lifecycle import RedriveOptions, make
from valkyr_plugins.redrive.models import Redrive, RedriveItem

BROKEN = {
    "output": "{{ tasks.bad.output }}",
    "tasks": [effect("bad", failTimes=1, errorType="PERMANENT", value="{{ input.n }}")],
}
HOPELESS = {"tasks": [effect("bad", failTimes=99, errorType="PERMANENT", value="{{ input.n }}")]}


def dead(
    queue: World, count: int, document: dict[str, Any] = BROKEN, workspace: Workspace | None = None
) -> list[UUID]:
    """Create dead letters, each in a separate execution; return their ids."""
    ids = start_many(publish(document, workspace), [{"n": n} for n in range(count)])
    queue.drain()
    found = DeadLetterEntry.objects.filter(execution_id__in=ids).order_by("pk")
    letters = list(found.values_list("pk", flat=True))
    assert len(letters) == count
    return letters


def made(ids: Sequence[UUID], **wish: Any) -> Redrive:
    """Create a draft."""
    return make(DeadLetterEntry.objects.filter(pk__in=ids), RedriveOptions(**wish), actor=ACTOR)


def begun(ids: Sequence[UUID], **wish: Any) -> Redrive:
    """Create and start a redrive."""
    return lifecycle.start(made(ids, **wish).pk, actor=ACTOR)


def items(redrive: Redrive) -> dict[UUID, RedriveItem]:
    """Return the redrive's items, by entry."""
    return {item.entry_id: item for item in RedriveItem.objects.filter(redrive=redrive)}


def told(redrive: Redrive) -> list[str]:
    """Return the states of the redrive's items, in the order of selection."""
    rows = RedriveItem.objects.filter(redrive=redrive).order_by("pk")
    return list(rows.values_list("state", flat=True))


def to_the_end(queue: World, redrive: Redrive, turns: int = 20) -> Redrive:
    """Drive and work until the redrive has ended."""
    for _ in range(turns):
        driver.drive()
        queue.drain()
        redrive.refresh_from_db()
        if not redrive.busy:
            return redrive
    raise AssertionError(f"still {redrive.state} after {turns} turns: {told(redrive)}")
