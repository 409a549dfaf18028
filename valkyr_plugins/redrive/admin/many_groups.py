"""Redrive several failure groups with one form: one redrive per group, with the same options."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext

from dlq.public.models import DeadLetterEntry, FailureGroup
from dlq.public.triage import FailureGroupAdmin
from executions.public.access import Actor
from executions.public.admin import links, newest_of
from executions.public.admin_skin import IntegerInput
from executions.public.api import bounded_count
from executions.public.database import transaction
from executions.public.errors import ValkyrError
from executions.public.language import lazy
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.admin.forms import (
    TYPED_ABOVE,
    RedriveForm,
    explain,
    may_go,
    number_text,
    proposed,
    refusal,
)
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.options import InvalidRedrive, check_approved, check_start, needed

ACTION = "redrive_groups"
MOST_GROUPS = 50
REDRIVES = "valkyr_redrive_redrive"


class RedriveGroupsForm(RedriveForm):
    """The options of all new redrives, and the total number of their entries."""

    count = forms.IntegerField(
        label=lazy("Number of dead letters"),
        required=False,
        widget=IntegerInput,
        help_text=lazy(
            "If you start redrives of more than 100 dead letters, type their total number to "
            "confirm."
        ),
    )


def redrive_groups(
    admin: FailureGroupAdmin, request: HttpRequest, queryset: QuerySet[FailureGroup]
) -> HttpResponse:
    """Ask how to redrive the selected groups, then create a redrive for each with open entries."""
    newest = newest_of(request, queryset)
    rows = queryset.filter(merged_into=None).order_by("pk").select_related("workflow")
    rows = rows.filter(pk__lte=newest) if newest else rows
    found = list(rows.defer("workflow__definition")[: MOST_GROUPS + 1])
    groups = found[:MOST_GROUPS]
    counts = {group.pk: bounded_count(may_go(request, _entries([group]))) for group in groups}
    total = sum(counts.values())
    confirmed = "confirmed" in request.POST
    form = RedriveGroupsForm(data=request.POST if confirmed else None, initial=proposed(total))
    if confirmed and form.is_valid():
        made = _made(request, [group for group in groups if counts[group.pk]], form)
        if made:
            return _begun(admin, request, made) if _at_once(request) else _drafted(request, made)
    context = {
        **_site(request),
        "form": form,
        "groups": [(group, number_text(counts[group.pk])) for group in groups],
        "too_many": len(found) > MOST_GROUPS,
        "limit": MOST_GROUPS,
        "number": total,
        "count": number_text(total),
        "none": total == 0,
        "chosen": {"back": request.get_full_path(), "hidden": _hidden(request, newest)},
    }
    return TemplateResponse(request, "redrive/groups.html", context)


def _site(request: HttpRequest) -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": gettext("Redrive failure groups")}


def _hidden(request: HttpRequest, newest: UUID | None) -> list[tuple[str, str]]:
    return [
        ("action", ACTION),
        ("select_across", request.POST.get("select_across", "0")),
        ("newest", str(newest or "")),
        ("confirmed", "yes"),
        *((ACTION_CHECKBOX_NAME, pk) for pk in request.POST.getlist(ACTION_CHECKBOX_NAME)),
    ]


def _entries(groups: Sequence[FailureGroup]) -> QuerySet[DeadLetterEntry]:
    return DeadLetterEntry.objects.filter(group__in=groups)


def _at_once(request: HttpRequest) -> bool:
    return "start" in request.POST


def _made(
    request: HttpRequest, groups: Sequence[FailureGroup], form: RedriveGroupsForm
) -> list[Redrive]:
    """Create a draft for each group; if one fails, create none and add the reason to the form."""
    powers = needed(form.wish({}, None))
    if reason := refusal(request, may_go(request, _entries(groups), powers), form):
        form.add_error(None, reason)
        return []
    made: list[Redrive] = []
    try:
        with transaction.atomic():
            for group in groups:
                rows = may_go(request, _entries([group]), powers)
                wish = form.wish({"groupId": str(group.pk)}, group.pk)
                redrive = lifecycle.make(rows, wish, actor=Actor.of_request(request))
                check_approved(request.user, redrive)
                made.append(redrive)
            if _at_once(request):
                _check_number(form.cleaned_data["count"], sum(redrive.total for redrive in made))
    except ValkyrError as error:
        explain(form, error)
        return []
    return made


def _check_number(typed: int | None, total: int) -> None:
    if total > TYPED_ABOVE and typed != total:
        text = gettext("Type the number of dead letters to confirm: {total}.").format(total=total)
        raise InvalidRedrive(text, [])


def _begun(admin: FailureGroupAdmin, request: HttpRequest, made: Sequence[Redrive]) -> HttpResponse:
    """Start each draft separately; a draft that cannot start remains a draft."""
    started, refused = 0, []
    for redrive in made:
        try:
            check_start(request.user, redrive)
            lifecycle.start(redrive.pk, actor=Actor.of_request(request))
            started += 1
        except ValkyrError as error:
            refused.append(str(error))
    text = ngettext("{number} redrive started.", "{number} redrives started.", started)
    admin.message_user(request, text.format(number=started))
    for reason in dict.fromkeys(refused):
        admin.message_user(request, reason, messages.ERROR)
    return _shown(made, "running")


def _drafted(request: HttpRequest, made: Sequence[Redrive]) -> HttpResponse:
    text = ngettext("{number} draft created.", "{number} drafts created.", len(made))
    messages.success(request, text.format(number=len(made)))
    return _shown(made, "drafts")


def _shown(made: Sequence[Redrive], state: str) -> HttpResponse:
    if len(made) == 1:
        return HttpResponseRedirect(links.page(REDRIVES, made[0].pk))
    return HttpResponseRedirect(links.listing(REDRIVES, state=state))
