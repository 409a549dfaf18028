"""How long executions are kept: for each final state, with exceptions per workspace or workflow.

This module is pure. A workflow's term takes precedence over its workspace's term, which takes
precedence over the installation's term.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

# The words for endings in the settings, and their states.
ENDINGS: Mapping[str, tuple[str, ...]] = {
    "succeeded": ("SUCCESS",),
    "failed": ("FAILED", "TIMEOUT"),
    "cancelled": ("CANCELLED",),
}
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Term:
    """The number of days for which executions that ended in `state` are kept; 0 means forever."""

    state: str
    days: float
    workspace_id: UUID | None = None
    workflow_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class RetentionScope:
    """A selection of the executions to prune; an empty field does not limit the selection.

    If the root of a family is selected, the whole family is.
    """

    workspace_id: UUID | None = None
    workflow_id: UUID | None = None
    states: frozenset[str] = field(default_factory=frozenset)


def terms_of(
    days: Mapping[str, float], *, workspace_id: UUID | None = None, workflow_id: UUID | None = None
) -> list[Term]:
    """Return the terms for a mapping from endings to days: `{"succeeded": 30, "failed": 90}`.

    The terms apply to the workspace or the workflow, if one is given.
    """
    return [
        Term(state, number, workspace_id, workflow_id)
        for ending, number in days.items()
        for state in ENDINGS[ending]
    ]


def youngest_end(terms: Iterable[Term], now: datetime) -> datetime | None:
    """Return the latest end time of deletable executions; None if all are kept forever."""
    days = [term.days for term in terms if term.days > 0]
    return now - min(days) * DAY if days else None


def parameters(terms: Sequence[Term], scope: RetentionScope, now: datetime) -> dict[str, Any]:
    """Return the parameters for the SQL statements, from these terms and this scope."""
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
