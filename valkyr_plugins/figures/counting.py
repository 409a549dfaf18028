"""Executions counted from their rows: by slot of time and workflow, in four bounded statements."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection

from executions.public.access import SCOPE_SQL, Scope
from executions.public.database import first_id_at
from valkyr_plugins.figures.histogram import BUCKET_SQL
from valkyr_plugins.figures.tally import COUNTERS, Tally

FOLDER = Path(__file__).with_name("sql")
# Attempts that failed are looked for among those queued at most so long before the first slot.
LOOK_BACK = timedelta(hours=6)
SAMPLE = 300
EACH = 20
# Test runs are in no figure. Not a join: this is hashed once, whatever the number of executions.
REAL_SQL = (
    "e.version_id NOT IN (SELECT v.id FROM executions_workflowversion AS v WHERE v.kind = 'test')"
)

Key = tuple[int, UUID, UUID]  # slot, workspace, workflow


@dataclass(frozen=True, slots=True)
class Stretch:
    """`slots` slots of `length` from `since` on; of each at most `most` executions are counted."""

    since: datetime
    length: timedelta
    slots: int
    most: int

    @property
    def parameters(self) -> dict[str, Any]:
        """For the statements."""
        return {
            "since": self.since,
            "length": self.length,
            "slots": self.slots,
            "most": self.most,
            "first": first_id_at(self.since, -LOOK_BACK),
            "sample": SAMPLE,
            "each": EACH,
        }


def count(stretch: Stretch, scope: Scope) -> dict[Key, Tally]:
    """A tally for each slot and workflow in which anything was; four statements."""
    found: dict[Key, Tally] = {}
    for name, note in _NOTES.items():
        for slot, workspace_id, workflow_id, *values in _rows(name, stretch, scope):
            note(found.setdefault((slot, workspace_id, workflow_id), Tally()), *values)
    return found


def _ended(tally: Tally, state: str, bucket: int | None, number: int) -> None:
    tally.count(COUNTERS[state], number)
    if bucket is not None:
        tally.durations.add(bucket, number)


def _created(tally: Tally, number: int) -> None:
    tally.count("created", number)


def _dispatched(tally: Tally, bucket: int, number: int) -> None:
    tally.dispatches.add(bucket, number)


def _failed(tally: Tally, state: str, number: int) -> None:
    tally.count("dead_letters" if state == "DLQ" else "failed_attempts", number)


_NOTES: Mapping[str, Callable[..., None]] = {
    "ended": _ended,
    "created": _created,
    "dispatched": _dispatched,
    "failed": _failed,
}


def _rows(name: str, stretch: Stretch, scope: Scope) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(_text(name), {**stretch.parameters, **scope.parameters})
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


@cache
def _text(name: str) -> str:
    """The statement; its braces are filled with our own constants, never with values."""
    return (
        (FOLDER / f"{name}.sql")
        .read_text()
        .format(bucket=BUCKET_SQL, scope=f"{SCOPE_SQL} AND {REAL_SQL}")
    )
