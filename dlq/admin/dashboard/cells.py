"""The home page's panel of all cells with their totals, for superusers.

All databases are queried concurrently. A database that does not answer therefore delays the page by
at most 2 s, at most once in 15 s.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial

from django.core.cache import cache
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext

from dlq.models import DeadLetterEntry, Resolution
from executions.admin import marks
from executions.admin.changelist import BOUND, bounded_count
from executions.admin.scope import is_superuser
from executions.admin.sections import Cell, PageSection
from executions.api.cell_routing import FIRST, choices
from executions.database import routing
from executions.database.by_state import in_states
from executions.database.clock import database_now
from executions.database.each_database import EachDatabase
from executions.database.time_limits import soon
from executions.models import WorkflowExecution
from runners.models import Runner

SECONDS = 2.0
KEPT_SECONDS = 15
KEY = "dashboard:cells"


@dataclass(frozen=True, slots=True)
class CellCounts:
    """The counts of one database; a count is None if the database did not answer in time."""

    running: int | None
    queued: int | None
    letters: int | None
    workers: int | None


def section(request: HttpRequest) -> PageSection | None:
    """Return the panel, or None if there are no cells or the user is not a superuser."""
    listed = choices(request)
    if not listed or not is_superuser(request):
        return None
    kept: dict[str, CellCounts | None] | None = cache.get(KEY)
    if kept is None:
        kept = {routing.cell_of(of): found for of, found in EACH.ask(SECONDS).items()}
        cache.set(KEY, kept, KEPT_SECONDS)
    rows = [_row(_link(one.address, one.name), kept.get(one.name)) for one in listed]
    total = _total([found for found in kept.values() if found])
    return PageSection(
        gettext("All cells"),
        headers=(
            gettext("Cell"), gettext("State"), gettext("Running"), gettext("Pending"),
            gettext("Open dead letters"), gettext("Live workers"),
        ),
        rows=[*rows, [gettext("Total"), _missing(kept), *total]],
    )  # fmt: skip


def _counts() -> CellCounts:
    now = database_now()  # unlike `soon`, this raises an error during a database outage
    live = Runner.objects.live(now)
    executions = WorkflowExecution.objects.all()
    letters = DeadLetterEntry.objects.filter(resolution=Resolution.PENDING)
    return CellCounts(
        _count(executions.filter(in_states("RUNNING"))),
        _count(executions.filter(in_states("PENDING"))),
        _count(letters),
        _count(live),
    )


def _count(
    rows: QuerySet[WorkflowExecution] | QuerySet[DeadLetterEntry] | QuerySet[Runner],
) -> int | None:
    return soon(partial(bounded_count, rows))


EACH = EachDatabase(_counts)


def _link(address: str, name: str) -> Cell:
    text = gettext("Cell {name}").format(name=name) if name else gettext("First database")
    return format_html('<a class="vk-link" href="{}">{}</a>', address, text)


def _row(link: Cell, found: CellCounts | None) -> list[Cell]:
    if found is None:
        return [link, marks.mark(gettext("not available"), "cancel", "red"), *[marks.EMPTY] * 4]
    return [link, marks.mark(gettext("available"), "check_circle", "green"), *_numbers(found)]


def _numbers(found: CellCounts) -> list[Cell]:
    return [_number(one, capped=one is not None and one >= BOUND) for one in astuple(found)]


def _total(found: Sequence[CellCounts]) -> list[Cell]:
    """Return the sums of these counts; a plus sign means that a count is missing or incomplete."""
    sums: list[Cell] = []
    for column in zip(*map(astuple, found), strict=True):
        known = [one for one in column if one is not None]
        capped = len(known) < len(column) or any(one >= BOUND for one in known)
        sums.append(_number(sum(known), capped=capped))
    return sums or [marks.EMPTY] * 4


def _number(number: int | None, *, capped: bool) -> Cell:
    if number is None:
        return marks.EMPTY
    return f"{number:,}{'+' if capped else ''}"


def _missing(kept: dict[str, CellCounts | None]) -> Cell:
    missing = [cell or FIRST for cell, found in kept.items() if found is None]
    return gettext("without {cells}").format(cells=", ".join(missing)) if missing else ""
