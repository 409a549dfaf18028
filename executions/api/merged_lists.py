"""Merge a list's pages from several cells, for callers whose rows may be in any of the cells.

Each cell returns its page after the same cursor. The merged page ends at the limit, or earlier, at
the last row up to which every cell's page is complete. Its cursor is valid in all cells.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError
from rest_framework.response import Response

from executions.database import moved_workspaces, routing
from executions.database.keyset import KeysetOrder
from executions.database.silent_cells import part_in

log = logging.getLogger(__name__)
UNAVAILABLE = "Valkyr-Unavailable-Cells"
Key = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPart:
    """One database's page of a list, with the keys of its rows.

    `reached` is the key up to which the page is complete; None if no row follows the page.
    """

    order: KeysetOrder
    keys: list[Key]
    reached: Key | None
    limit: int


_parts: ContextVar[list[ListPart] | None] = ContextVar("list parts", default=None)


def note(order: KeysetOrder, rows: list[Any], reached: Key | None, limit: int) -> None:
    """Record the keys of a page's rows if the list is being merged; otherwise, do nothing."""
    parts = _parts.get()
    if parts is not None:
        keys = [tuple(getattr(row, name) for name in order.columns) for row in rows]
        parts.append(ListPart(order, keys, reached, limit))


@contextmanager
def _noting() -> Iterator[list[ListPart]]:
    noted: list[ListPart] = []
    token = _parts.set(noted)
    try:
        yield noted
    finally:
        _parts.reset(token)


def merged(
    get: Callable[..., Response], link: Callable[[str], dict[str, str]]
) -> Callable[..., Response]:
    """Return a view method that calls `get` for each database and merges the pages.

    `link` returns the `Link` header for a cursor. The first response that is not a list is returned
    unchanged. A cell that does not respond is left out, and a header names the cell.
    """

    def handle(*given: Any, **named: Any) -> Response:
        answers: list[tuple[Response, ListPart]] = []
        unavailable: list[str] = []
        for of in routing.aliases():
            try:
                with part_in(of), _noting() as parts:
                    answer = get(*given, **named)
            except (OperationalError, InterfaceError) as error:
                if of == routing.first():
                    raise
                unavailable.append(routing.cell_of(of))
                log.warning("the list lacks the rows of %r: %s", unavailable[-1], error)
                continue
            if len(parts) != 1 or not _is_list(answer, parts[0]):
                return answer
            answers.append((answer, _without_gone(answer, parts[0], of)))
        return _joined(answers, unavailable, link)

    return handle


def _without_gone(answer: Response, part: ListPart, of: str) -> ListPart:
    """Remove from `answer` the rows of workspaces that have left the database `of`.

    Returns the part without the keys of these rows.
    """
    kept = [
        (key, row)
        for key, row in zip(part.keys, answer.data, strict=True)
        if not (isinstance(row, dict) and moved_workspaces.has_left(of, row))
    ]
    answer.data = [row for _, row in kept]
    return replace(part, keys=[key for key, _ in kept])


def _is_list(answer: Any, part: ListPart) -> bool:
    return isinstance(answer.data, list) and len(answer.data) == len(part.keys)


def everywhere(read: Callable[[], list[T]]) -> list[T]:
    """Return the rows of `read`, from all databases if the caller's rows may be in any of them.

    If all databases are read, a cell that does not respond is omitted, but an error of the first
    database is raised.
    """
    if not routing.is_undecided():
        return read()
    found: list[T] = []
    for of in routing.aliases():
        try:
            with part_in(of):
                found += read()
        except (OperationalError, InterfaceError) as error:
            if of == routing.first():
                raise
            log.warning("the rows of %r are left out: %s", routing.cell_of(of), error)
    return found


def _joined(
    answers: list[tuple[Response, ListPart]],
    unavailable: list[str],
    link: Callable[[str], dict[str, str]],
) -> Response:
    answer, first = answers[0]
    order, limit = first.order, first.limit
    ends = [part.reached for _, part in answers if part.reached is not None]
    end = (min if order.ascending else max)(ends) if ends else None
    pairs = (pair for one, part in answers for pair in zip(part.keys, one.data, strict=True))
    # The dict removes duplicates: until a move is finished, some rows are in both cells.
    rows = sorted(dict(pairs).items(), key=lambda pair: pair[0], reverse=not order.ascending)
    within = [pair for pair in rows if end is None or _reaches(end, pair[0], order)]
    shown = within[:limit]
    if len(within) > limit:
        end = shown[-1][0]
    answer.data = [row for _, row in shown]
    answer.headers.pop("Link", None)
    for name, value in ({} if end is None else link(order.cursor_of(*end))).items():
        answer.headers[name] = value
    if unavailable:
        answer.headers[UNAVAILABLE] = ", ".join(unavailable)
    return answer


def _reaches(end: Key, key: Key, order: KeysetOrder) -> bool:
    return key <= end if order.ascending else key >= end
