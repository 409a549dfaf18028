"""The workspaces with budgets or quotas on steps, cached per process for at most a second.

In the other workspaces, usually most of them, a step queries no limits.
"""

import time
from dataclasses import dataclass
from uuid import UUID

from executions.public.database import alias
from valkyr_plugins.limits import statements

SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Known:
    """The workspaces with budgets, with a kill switch (`killing`), or with quotas on tokens.

    `modules` are pairs of a workspace and a module type with a quota.
    """

    budgets: frozenset[UUID]
    killing: frozenset[UUID]
    modules: frozenset[tuple[UUID, str]]
    tokens: frozenset[UUID]


# By the alias of the database.
_known: dict[str, Known] = {}
_until: dict[str, float] = {}


def known() -> Known:
    """Return the workspaces with limits, and query them at most once per second."""
    ours, now = alias(), time.monotonic()
    found = _known.get(ours)
    if found is None or now >= _until[ours]:
        # Set this first, so that other threads use the known limits while this thread reads.
        _until[ours] = now + SECONDS
        found = _known[ours] = _read()
    return found


def forget() -> None:
    """Drop this process's cache of limits."""
    _known.clear()


def _read() -> Known:
    rows = statements.fetch("limited_workspaces", {})
    return Known(
        budgets=frozenset(workspace for kind, workspace, _ in rows if kind == "budget"),
        killing=frozenset(workspace for kind, workspace, _ in rows if kind == "kill"),
        modules=frozenset((workspace, of) for kind, workspace, of in rows if kind == "module"),
        tokens=frozenset(workspace for kind, workspace, _ in rows if kind == "tokens"),
    )
