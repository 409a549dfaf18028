"""Redrives on the pages of failure groups, and the ways from there and from lists to a new one."""

from urllib.parse import urlencode

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dlq.public.models import DeadLetterEntry, FailureGroup
from dlq.public.triage import (
    GROUP_LINKS,
    GROUP_SECTIONS,
    DeadLetterEntryAdmin,
    GroupLink,
    add_entry_action,
)
from executions.public.admin import PageSection, holds, marks, newest_of, scoped
from executions.public.models import Permission
from valkyr_plugins.redrive.admin.asking import Chosen, ask
from valkyr_plugins.redrive.models import Redrive

SHOWN = 10
ACTION = "redrive_many"


def address(request: HttpRequest, group: FailureGroup) -> str:
    """The page that plans a redrive of its open entries; empty without any, or the power to."""
    if group.open <= 0 or not holds(request, Permission.REDRIVE):
        return ""
    return f"{reverse('admin:valkyr_redrive_redrive_new')}?{urlencode({'group': group.pk})}"


def redrives(request: HttpRequest, group: FailureGroup) -> PageSection:
    """The newest redrives of a group."""
    rows = scoped(request, Redrive.objects.filter(group=group)).order_by("-created_at")
    return PageSection(
        "Redrives",
        headers=("When", "Who", "State", "Entries", "Succeeded", "Failed again"),
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
        empty="It was never redriven as a group.",
        folded=True,
    )


def redrive_many(
    admin: DeadLetterEntryAdmin, request: HttpRequest, queryset: QuerySet[DeadLetterEntry]
) -> HttpResponse:
    """Ask how the selection is to be redriven; what arrives meanwhile is not swept in."""
    across = request.POST.get("select_across", "0")
    ids = request.POST.getlist(ACTION_CHECKBOX_NAME)
    newest = newest_of(request, queryset)
    rows = queryset.order_by("pk")
    chosen = Chosen(
        rows=rows.filter(pk__lte=newest) if newest else rows,
        selection={"list": request.GET.urlencode()} if across == "1" else {"ids": ids},
        title="the dead letters that you ticked",
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


GROUP_LINKS.append(GroupLink("Redrive…", "replay", "r", address))
GROUP_SECTIONS.append(redrives)
add_entry_action(
    ACTION,
    redrive_many,
    short_description="Redrive at a pace…",
    allowed_permissions=("requeue",),
)
