"""How long executions are kept: by how they ended, for some workspaces and workflows otherwise.

Pure. A term of a workflow comes before one of its workspace, and that before the installation's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

# The words of the settings, and the states they stand for.
ENDINGS: Mapping[str, tuple[str, ...]] = {
    "succeeded": ("SUCCESS",),
    "failed": ("FAILED", "TIMEOUT"),
    "cancelled": ("CANCELLED",),
}
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Term:
    """So many days executions that ended in `state` are kept; 0 for ever."""

    state: str
    days: float
    workspace_id: UUID | None = None
    workflow_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class RetentionScope:
    """What it is about: empty for everything. Of a family of executions its root is asked."""

    workspace_id: UUID | None = None
    workflow_id: UUID | None = None
    states: frozenset[str] = field(default_factory=frozenset)


def terms_of(
    days: Mapping[str, float], *, workspace_id: UUID | None = None, workflow_id: UUID | None = None
) -> list[Term]:
    """The terms that `{"succeeded": 30, "failed": 90}` says for one place."""
    return [
        Term(state, number, workspace_id, workflow_id)
        for ending, number in days.items()
        for state in ENDINGS[ending]
    ]


def youngest_end(terms: Iterable[Term], now: datetime) -> datetime | None:
    """Nothing that ended later goes; None where everything is kept for ever."""
    days = [term.days for term in terms if term.days > 0]
    return now - min(days) * DAY if days else None


def parameters(terms: Sequence[Term], scope: RetentionScope, now: datetime) -> dict[str, Any]:
    """For the statements."""
    return {
        "now": now,
        "term_states": [term.state for term in terms],
        "term_workspaces": [term.workspace_id for term in terms],
        "term_workflows": [term.workflow_id for term in terms],
        "term_days": [float(term.days) for term in terms],
        "workspace": scope.workspace_id,
        "workflow": scope.workflow_id,
        "states": sorted(scope.states) or None,
    }
