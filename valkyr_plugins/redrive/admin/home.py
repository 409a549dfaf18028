"""The home page's table of redrives under way."""

from collections.abc import Iterable

from django.http import HttpRequest
from django.urls import NoReverseMatch

from dlq.public.dashboard import HomeSection, add_section
from executions.public.admin import Cell, links, marks, scoped
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.states import RedriveState

SHOWN = 8
MARKS = {
    RedriveState.RUNNING: ("running", "clock_loader_40", "blue"),
    RedriveState.PAUSED: ("paused", "pause_circle", "amber"),
    RedriveState.STOPPED: ("stopped", "dangerous", "red"),
}


def _gather(request: HttpRequest) -> list[Redrive]:
    rows = scoped(request, Redrive.objects.filter(state__in=tuple(MARKS)))
    return list(rows.order_by("-created_at")[:SHOWN])


def _rows(found: Iterable[Redrive]) -> list[list[Cell]]:
    return [
        [
            _link(row),
            marks.mark(*MARKS[RedriveState(row.state)]),
            f"{row.succeeded + row.failed_again + row.skipped:,} of {row.total:,}",
            f"{row.failed_again:,}",
        ]
        for row in found
    ]


def _link(row: Redrive) -> Cell:
    text = marks.clipped(row.reason, 60) or f"of {row.created_by_name}"
    try:
        return links.to("valkyr_redrive_redrive", row.pk, text)
    except NoReverseMatch:
        return text


add_section(
    HomeSection(
        name="redrives",
        title="Redrives",
        headers=("Redrive", "State", "Done", "Failed again"),
        empty="No redrive is under way.",
        gather=_gather,
        rows=_rows,
        column="failures",
    )
)
