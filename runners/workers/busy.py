"""What each worker does right now: the runs that it holds, and since when."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from runners.models import Run
from runners.states import HELD

BOUND = 1_000
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Step:
    """A run that is held: of which execution, and since when."""

    run_id: UUID
    execution_id: UUID
    workflow: str
    path: str
    since: datetime | None


@dataclass(slots=True)
class Busy:
    """What one worker holds: the longest of them, and how many in all."""

    steps: list[Step] = field(default_factory=list)
    number: int = 0


def busy(runs: QuerySet[Run]) -> dict[str, Busy]:
    """What each worker holds, by its name, of the runs given; the longest first. One statement.

    At most 1,000 runs are looked at.
    """
    rows: QuerySet[Run, Any] = runs.filter(state__in=sorted(HELD)).order_by("started_at")
    found: dict[str, Busy] = {}
    for holder, pk, execution_id, workflow, path, since in rows.values_list(
        "leased_by", "pk", "execution_id", "execution__workflow__name", "step_path", "started_at"
    )[:BOUND]:
        one = found.setdefault(holder.partition("|")[0], Busy())
        one.number += 1
        if len(one.steps) < SHOWN:
            one.steps.append(Step(pk, execution_id, workflow, path, since))
    return found
