"""Redrives on the home page and the pages of failure groups, and actions that create redrives."""

from collections.abc import Iterable
from datetime import timedelta
from urllib.parse import urlencode

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext

from dlq.public.dashboard import HomeSection, add_section
from dlq.public.models import DeadLetterEntry, FailureGroup
from dlq.public.triage import (
    GROUP_LINKS,
    GROUP_PROGRESS,
    GROUP_SECTIONS,
    LISTS,
    DeadLetterEntryAdmin,
    GroupLink,
    GroupProgress,
    add_entry_action,
    add_group_action,
)
from executions.public.admin import Cell, PageSection, holds, links, marks, newest_of, scoped
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.redrive.admin import many_groups, panels
from valkyr_plugins.redrive.admin.forms import Chosen, ask
from valkyr_plugins.redrive.models import Redrive, RedriveState

SHOWN = 10
RECENT = timedelta(days=1)
ACTION = "redrive_many"


def address(request: HttpRequest, group: FailureGroup) -> str:
    """Return the URL of the form for a group's open entries; "" without entries or permission."""
    if group.open <= 0 or not holds(request, Permission.REDRIVE):
        return ""
    return f"{reverse('admin:valkyr_redrive_redrive_new')}?{urlencode({'group': group.pk})}"


def redrives(request: HttpRequest, group: FailureGroup) -> PageSection:
    """Return a section with the group's newest redrives that the user may see."""
    rows = scoped(request, Redrive.objects.filter(group=group)).order_by("-created_at")
    return PageSection(
        gettext("Redrives"),
        headers=(
            gettext("When"),
            gettext("Actor"),
            gettext("State"),
            gettext("Dead letters"),
            gettext("Succeeded"),
            gettext("Failed again"),
        ),
        rows=[
            [
                marks.ago(row.created_at),
                row.created_by_name,
                str(row.get_state_display()),
                f"{row.total:,}",
                f"{row.succeeded:,}",
                f"{row.failed_again:,}",
            ]
            for row in rows[:SHOWN]
        ],
        empty=gettext("This group has not been redriven as a whole yet."),
        folded=True,
    )


def under_way(request: HttpRequest, group: FailureGroup) -> GroupProgress | None:
    """Return the progress of the group's newest redrive that is not a draft.

    Return None if there is none, or if the redrive ended over a day ago.
    """
    rows = scoped(request, Redrive.objects.filter(group=group))
    newest = rows.exclude(state=RedriveState.DRAFT).order_by("-created_at", "-id").first()
    ended = newest.finished_at if newest else None
    if newest is None or (ended is not None and timezone.now() - ended > RECENT):
        return None
    return GroupProgress(panels.in_short(newest), newest.busy)


def redrive_many(
    admin: DeadLetterEntryAdmin, request: HttpRequest, queryset: QuerySet[DeadLetterEntry]
) -> HttpResponse:
    """Show or submit the form for the selected entries, without entries added after it opened."""
    across = request.POST.get("select_across", "0")
    ids = request.POST.getlist(ACTION_CHECKBOX_NAME)
    newest = newest_of(request, queryset)
    rows = queryset.order_by("pk")
    chosen = Chosen(
        rows=rows.filter(pk__lte=newest) if newest else rows,
        selection={"list": request.GET.urlencode()} if across == "1" else {"ids": ids},
        title=gettext("the selected dead letters"),
        back=request.get_full_path(),
        hidden=[
            ("action", ACTION),
            ("select_across", across),
            ("newest", str(newest or "")),
            ("confirmed", "yes"),
            *((ACTION_CHECKBOX_NAME, pk) for pk in ids),
        ],
    )
    return ask(request, chosen, sent="confirmed" in request.POST)


GROUP_LINKS.append(GroupLink(lazy("Redrive…"), "replay", "r", address))
LISTS.append(("valkyr_redrive_redrive", lazy("Redrives")))
GROUP_SECTIONS.append(redrives)
GROUP_PROGRESS.append(under_way)
add_group_action(
    many_groups.ACTION, many_groups.redrive_groups, Permission.REDRIVE, lazy("Redrive…")
)
add_entry_action(
    ACTION,
    redrive_many,
    short_description=lazy("Redrive at a rate…"),
    allowed_permissions=("requeue",),
)


# The home page's table of redrives in progress.


REDRIVES_SHOWN = 8
MARKS = {
    RedriveState.RUNNING: (lazy("running"), "clock_loader_40", "blue"),
    RedriveState.PAUSED: (lazy("paused"), "pause_circle", "amber"),
    RedriveState.STOPPED: (lazy("stopped"), "dangerous", "red"),
}


def _gather(request: HttpRequest) -> list[Redrive]:
    rows = scoped(request, Redrive.objects.filter(state__in=tuple(MARKS)))
    return list(rows.order_by("-created_at")[:REDRIVES_SHOWN])


def _rows(found: Iterable[Redrive]) -> list[list[Cell]]:
    return [
        [
            _link(row),
            marks.mark(*MARKS[RedriveState(row.state)]),
            gettext("{done:,} of {total:,}").format(
                done=row.succeeded + row.failed_again + row.skipped, total=row.total
            ),
            f"{row.failed_again:,}",
        ]
        for row in found
    ]


def _link(row: Redrive) -> Cell:
    text = marks.clipped(row.reason, 60) or gettext("redrive by {created_by_name}").format(
        created_by_name=row.created_by_name
    )
    try:
        return links.to("valkyr_redrive_redrive", row.pk, text)
    except NoReverseMatch:
        return text


add_section(
    HomeSection(
        name="redrives",
        title=lazy("Redrives"),
        headers=(lazy("Redrive"), lazy("State"), lazy("Ended"), lazy("Failed again")),
        gather=_gather,
        rows=_rows,
        column="failures",
    )
)
