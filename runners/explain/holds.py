"""Explain why gates hold runs before their modules run.

For each kind of hold, `HOLDS` contains a function that explains it. Runs whose gate is no longer
installed wait for their timer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from executions.explain.reason import Reason, at
from runners.models import Run
from runners.states import WaitKind


@dataclass(frozen=True, slots=True)
class HeldRuns:
    """Runs of one execution that a gate holds for the same kind of reason.

    `since` contains the start of each run's wait.
    """

    workspace_id: UUID
    runs: Sequence[Run]
    since: Mapping[UUID, datetime | None]
    now: datetime


# A function that returns the reasons of runs, keyed by run ID, in a fixed number of queries.
Explain = Callable[[HeldRuns], Mapping[UUID, Reason]]
HOLDS: dict[str, Explain] = {}
"""By kind of wait, the functions that explain why runs are held. Plugins add them."""


def hold_reasons(
    workspace_id: UUID, runs: Sequence[Run], noticed: Mapping[UUID, datetime], now: datetime
) -> dict[UUID, Reason]:
    """Return the reasons for held runs, keyed by run ID; omit runs whose kind is not in `HOLDS`."""
    reasons: dict[UUID, Reason] = {}
    for kind, explain in HOLDS.items():
        held = [run for run in runs if run.waits_for == kind]
        if held:
            since = {run.pk: noticed.get(run.pk, run.started_at) for run in held}
            reasons |= explain(HeldRuns(workspace_id, held, since, now))
    return reasons


def not_installed(run: Run, since: datetime | None) -> Reason:
    """Return the reason for a run whose gate is not installed."""
    return Reason(
        f"waiting_for_{run.waits_for}",
        f"It is held before its start ({WaitKind(run.waits_for).value}) by a plugin that is "
        f"no longer installed. It continues at {at(run.due_at)}.",
        since=since,
        until=run.due_at,
        details=dict(run.progress or {}),
    )
