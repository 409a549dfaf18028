"""Which workspaces have budgets or quotas on steps: known to a process, a second old at most.

Where there are none, and that is nearly everywhere, a step asks the database nothing.
"""

import time
from dataclasses import dataclass
from uuid import UUID

from valkyr_plugins.limits import statements

SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Known:
    """Workspaces with budgets, those of them with a kill switch, and with quotas on steps.

    `modules` are pairs of a workspace and a limited module type.
    """

    budgets: frozenset[UUID]
    killing: frozenset[UUID]
    modules: frozenset[tuple[UUID, str]]
    tokens: frozenset[UUID]


_known: Known | None = None
_until = 0.0


def known() -> Known:
    """What exists; one query a second at most."""
    global _known, _until  # noqa: PLW0603 - a process's cache of one value
    found, now = _known, time.monotonic()
    if found is None or now >= _until:
        # First, so that the process's other threads use what was known while this one reads.
        _until = now + SECONDS
        found = _known = _read()
    return found


def forget() -> None:
    """Look again at the next question."""
    global _known  # noqa: PLW0603
    _known = None


def _read() -> Known:
    rows = statements.fetch("limited_workspaces", {})
    return Known(
        budgets=frozenset(workspace for kind, workspace, _ in rows if kind == "budget"),
        killing=frozenset(workspace for kind, workspace, _ in rows if kind == "kill"),
        modules=frozenset((workspace, of) for kind, workspace, of in rows if kind == "module"),
        tokens=frozenset(workspace for kind, workspace, _ in rows if kind == "tokens"),
    )
