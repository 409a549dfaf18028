"""Find rows of workspaces that were moved to another cell.

IDs keep the number of the cell in which they were made. If workspaces were moved from that cell, an
ID is searched for first in the cells to which they were moved. The directory of moves is in the
first database, and is cached for half a second. If that database does not respond, the last known
directory is used.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import InterfaceError, OperationalError, connections
from django.db.models import UUIDField

from executions.configuration import settings as valkyr_settings
from executions.database import routing

log = logging.getLogger(__name__)
KEPT_SECONDS = 0.5
PATIENCE_SECONDS = 10.0  # until the next read if the first database does not answer
MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class MoveDirectory:
    """The current cells of moved workspaces (`places`), and the cells that these workspaces left.

    `left` maps a cell to the new cells of workspaces that left it. `gone` has pairs of a former
    cell and a workspace. `found` caches the database of each ID that was found.
    """

    places: Mapping[UUID, str] = field(default_factory=dict)
    left: Mapping[str, frozenset[str]] = field(default_factory=dict)
    gone: frozenset[tuple[str, UUID]] = frozenset()
    found: dict[UUID, str] = field(default_factory=dict)


class _Known:
    directory = MoveDirectory()
    until = 0.0


def directory() -> MoveDirectory:
    """Return the directory of moves; it is read from the database at most twice a second."""
    if time.monotonic() >= _Known.until:
        _Known.until = time.monotonic() + KEPT_SECONDS
        try:
            rows = _model()._default_manager.using(routing.first()).exclude(switched_at=None)
            moves = rows.order_by("switched_at").values_list("workspace_id", "source", "target")
            made = _directory(moves)
        except (OperationalError, InterfaceError) as error:
            _Known.until = time.monotonic() + PATIENCE_SECONDS
            log.warning("the directory of moved workspaces is not available: %s", error)
        else:
            if made.places != _Known.directory.places:
                _Known.directory = made
    return _Known.directory


def forget() -> None:
    """Forget the directory, so that the next request reads it again."""
    _Known.directory, _Known.until = MoveDirectory(), 0.0


def place_of(pk: UUID, home: str) -> str:
    """Return the alias of the database that now has the row of an ID that was made in `home`.

    A process of one cell returns `home`, because it has no connection to the other cells.
    """
    settings = valkyr_settings()
    if not home or not settings.cells or settings.cell:
        return home
    known = directory()
    if pk in known.places:
        return routing.alias_of(known.places[pk])
    others = known.left.get(routing.cell_of(home), frozenset())
    if not others:
        return home
    if pk not in known.found:
        if len(known.found) >= MOST_KEPT:
            known.found.clear()
        there = (routing.alias_of(cell) for cell in sorted(others))
        where = next((alias for alias in there if _has(alias, pk)), "")
        if not where:
            return home  # not cached, because the row may be moving
        known.found[pk] = where
    return known.found[pk]


def has_left(of: str, row: Mapping[str, Any]) -> bool:
    """Return whether this row of a list belongs to a workspace that has left the database `of`."""
    gone = directory().gone
    named = row.get("workspaceId") or row.get("id")
    return bool(gone) and bool(named) and (routing.cell_of(of), UUID(str(named))) in gone


def _directory(moves: Iterable[tuple[UUID, str, str]]) -> MoveDirectory:
    """Return the directory of these moves, which are ordered by the time of the switch."""
    visited: dict[UUID, set[str]] = {}
    places: dict[UUID, str] = {}
    for workspace, source, target in moves:
        visited.setdefault(workspace, set()).add(source)
        places[workspace] = target
    left: dict[str, set[str]] = {}
    gone = set()
    for workspace, sources in visited.items():
        for cell in sources - {places[workspace]}:
            left.setdefault(cell, set()).add(places[workspace])
            gone.add((cell, workspace))
    return MoveDirectory(
        places, {cell: frozenset(others) for cell, others in left.items()}, frozenset(gone)
    )


def _has(alias: str, pk: UUID) -> bool:
    """Return whether a database has a row with this ID; False if it does not respond."""
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute(_looking(), {"id": pk})
            row = cursor.fetchone()
    except (OperationalError, InterfaceError) as error:
        log.warning("an id was not looked for in %r: %s", routing.cell_of(alias), error)
        return False
    return bool(row and row[0])


@cache
def _model() -> Any:
    """Return the model of moves, which this module cannot import: a higher module defines it."""
    ours = (one for one in apps.get_models() if routing.is_ours(one))
    return next(one for one in ours if one.__name__ == "WorkspaceMove")


@cache
def _looking() -> str:
    """Return a statement that searches for an ID in the workspaces' tables that have UUID keys."""
    ours = [
        one._meta
        for one in apps.get_models()
        if routing.is_ours(one) and one._meta.managed and not one._meta.proxy
        and not getattr(one, routing.GLOBAL, False)
    ]  # fmt: skip
    parts = [
        f"EXISTS (SELECT FROM {meta.db_table} WHERE {meta.pk.column} = %(id)s)"
        for meta in ours
        if isinstance(meta.pk, UUIDField)
    ]
    return f"SELECT {' OR '.join(parts)}"
