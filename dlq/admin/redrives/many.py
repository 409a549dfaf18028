"""The way from a list of dead letters to a redrive of those that are ticked."""

from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from dlq.admin.entry import DeadLetterEntryAdmin
from dlq.admin.redrives.asking import Chosen, ask
from dlq.models import DeadLetterEntry
from executions.admin.operating import newest_of

ACTION = "redrive_many"


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


def _offer() -> None:
    marks: dict[str, Any] = {
        "short_description": "Redrive at a pace…",
        "allowed_permissions": ("requeue",),
    }
    redrive_many.__dict__.update(marks)
    setattr(DeadLetterEntryAdmin, ACTION, redrive_many)
    DeadLetterEntryAdmin.actions = (*(DeadLetterEntryAdmin.actions or ()), ACTION)


_offer()
