"""Serve each request from the database of its cell.

The first ID in the path, the query or the fields of a JSON body determines the cell. Without an ID,
a header names the cell (on pages, also a cookie); otherwise, the caller's API token determines it.
Requests that name no cell use the first database; their lists merge the rows of all cells.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

from django.apps import apps
from django.core.exceptions import MiddlewareNotUsed, RequestDataTooBig
from django.http import HttpRequest, HttpResponseRedirect, UnreadablePostError
from django.http.response import HttpResponseBase

from executions import addresses
from executions.api.problems import problem
from executions.configuration import settings as valkyr_settings
from executions.database import alias, cells, routing
from executions.database.silent_cells import request_in

HEADER, COOKIE, PARAMETER = "Valkyr-Cell", "valkyr_cell", "cell"
FIRST = "-"  # the first database has no name
Respond = Callable[[HttpRequest], HttpResponseBase]


class CellRouting:
    """Middleware of web processes for installations with cells; processes of one cell omit it."""

    def __init__(self, get_response: Respond) -> None:
        """Wrap `get_response`.

        Raises MiddlewareNotUsed without cells, or in a process of one cell.
        """
        known = valkyr_settings()
        if not known.cells or known.cell:
            raise MiddlewareNotUsed
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the cell's response; a redirect if a cell was chosen; 400 for an unknown cell."""
        page = _is_page(request)
        chosen = request.GET.get(PARAMETER, "") if page else ""
        kept = request.COOKIES.get(COOKIE, "") if page else ""
        if kept not in valkyr_settings().cells:
            kept = ""  # the first database, or a cell that was removed later
        named = chosen or request.headers.get(HEADER, kept)
        try:
            of = _of_name(named)
        except KeyError:
            known = ", ".join(valkyr_settings().cells)
            text = f"There is no cell {named[:20]!r}; expected one of: {known}, or - for the first."
            return problem(400, text, code="unknown_cell")
        if chosen:
            return _remembered(request, chosen)
        of = _of_ids(request) or of
        with request_in(of or routing.first()), routing.undecided(not of):
            return _kept(self._get_response(request), alias())


class CellChoice(NamedTuple):
    """A cell that the home page or a list of the admin can show; the first database has no name."""

    name: str
    address: str
    current: bool


def choices(request: HttpRequest) -> list[CellChoice]:
    """Return the cells between which a page of the admin can switch; [] if there is no choice."""
    known = valkyr_settings()
    if not known.cells or known.cell or not _is_page(request):
        return []
    shown = routing.cell()
    return [
        CellChoice(name, f"{request.path}?{PARAMETER}={name or FIRST}", name == shown)
        for name in ("", *known.cells)
    ]


def _is_page(request: HttpRequest) -> bool:
    """Return whether the request is for the admin's home page or for rows that are in cells."""
    admin = addresses.admin_or_none("index")
    if not admin or not request.path.startswith(admin):
        return False
    if request.path == admin:
        return True
    label, _, rest = request.path.removeprefix(admin).partition("/")
    try:
        model = apps.get_model(label, rest.partition("/")[0])
    except LookupError:
        return False
    return routing.is_ours(model) and not getattr(model, routing.GLOBAL, False)


def _remembered(request: HttpRequest, cell: str) -> HttpResponseBase:
    """Redirect to the page without the cell's parameter, and keep the cell in a cookie."""
    query = request.GET.copy()
    del query[PARAMETER]
    response = HttpResponseRedirect(f"{request.path}?{query.urlencode()}")
    response.set_cookie(COOKIE, cell, httponly=True, samesite="Lax", secure=request.is_secure())
    return response


def _of_ids(request: HttpRequest) -> str:
    """Return the database alias that the first ID in a request names; "" if no ID names one."""
    values = [value for values in request.GET.lists() for value in values[1]]
    found = cells.alias_in([request.path, *values])
    return found or cells.alias_in(_in_body(request))


def _of_name(name: str) -> str:
    """Return the alias of a named cell; "" for no name. Raises KeyError for an unknown cell."""
    if name and name != FIRST and name not in valkyr_settings().cells:
        raise KeyError(name)
    return routing.alias_of("" if name == FIRST else name) if name else ""


def _in_body(request: HttpRequest) -> Iterator[str]:
    """Yield the values of a JSON body's fields whose names end in `Id` or `Ids`.

    Nested values are left out, because payloads can contain any ID.
    """
    if request.content_type != "application/json":
        return
    try:
        body = json.loads(request.body or b"null")
    except (ValueError, RecursionError, RequestDataTooBig, UnreadablePostError):
        return  # the view rejects it
    for name, value in body.items() if isinstance(body, dict) else ():
        if name.endswith(("Id", "Ids")):
            yield from (str(one) for one in (value if isinstance(value, list) else [value]))


def _kept(response: Any, of: str) -> HttpResponseBase:
    """Return the response; rows that are read while it is sent come from the same database."""
    if response.streaming:
        each = _each_later if response.is_async else _each
        response.streaming_content = each(response.streaming_content, of)
    kept: HttpResponseBase = response
    return kept


def _each(parts: Iterator[bytes], of: str) -> Iterator[bytes]:
    while True:
        with request_in(of):
            part = next(parts, None)
        if part is None:
            return
        yield part


async def _each_later(parts: Any, of: str) -> AsyncIterator[bytes]:
    try:
        while True:
            with request_in(of):
                part = await anext(parts, None)
            if part is None:
                return
            yield part
    finally:
        with request_in(of):
            await parts.aclose()
