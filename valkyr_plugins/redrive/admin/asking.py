"""Which entries a redrive is to take and with what: one page, whoever chose them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from dlq.public.models import DeadLetterEntry, Resolution
from executions.public.access import Actor
from executions.public.admin import links, scoped
from executions.public.api import BOUND, FREE_IDS, bounded_count
from executions.public.errors import ValkyrError, WithProblems
from executions.public.models import Permission
from valkyr_plugins.redrive.admin.forms import RedriveForm
from valkyr_plugins.redrive.making import make
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.permissions import check_approved, needed

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Chosen:
    """Entries that somebody chose: the rows, how it was said, and what the form re-posts."""

    rows: QuerySet[DeadLetterEntry]
    selection: Mapping[str, Any]
    title: str
    back: str
    group_id: UUID | None = None
    hidden: Sequence[tuple[str, str]] = field(default_factory=tuple)


def ask(request: HttpRequest, chosen: Chosen, *, sent: bool) -> HttpResponse:
    """The form, or (`sent`) what came of it: on to the draft's page, or the form with errors."""
    form = RedriveForm(data=request.POST if sent else None, initial={"scope": "STEP"})
    if sent and form.is_valid():
        made = _made(request, chosen, form)
        if made is not None:
            return HttpResponseRedirect(links.page("valkyr_redrive_redrive", made.pk))
    open_rows = scoped(request, chosen.rows, Permission.REDRIVE).filter(
        resolution=Resolution.PENDING
    )
    count = bounded_count(open_rows)
    context = {
        **admin.site.each_context(request),
        "title": "New redrive",
        "chosen": chosen,
        "form": form,
        "count": f"{BOUND:,}+" if count >= BOUND else f"{count:,}",
        "none": count == 0,
        "examples": open_rows.defer("original_inputs", "original_config").order_by("pk")[:SHOWN],
    }
    return TemplateResponse(request, "redrive/new.html", context)


def _made(request: HttpRequest, chosen: Chosen, form: RedriveForm) -> Redrive | None:
    """The draft, or None with the reason on the form."""
    wish = form.wish(dict(chosen.selection), chosen.group_id)
    rows = chosen.rows
    for power in needed(wish):
        rows = scoped(request, rows, power)
    rows = rows.filter(resolution=Resolution.PENDING)
    if refusal := _refusal(request, rows, form):
        form.add_error(None, refusal)
        return None
    try:
        with transaction.atomic():
            redrive = make(rows, wish, actor=Actor.of_request(request))
            check_approved(request.user, redrive)
        return redrive
    except WithProblems as error:
        for problem in error.problems:
            form.add_error(None, f"{getattr(problem, 'path', '')}: {problem.message}".lstrip(": "))
        if not error.problems:
            form.add_error(None, str(error))
    except ValkyrError as error:
        form.add_error(None, str(error))
    return None


def _refusal(request: HttpRequest, rows: QuerySet[DeadLetterEntry], form: RedriveForm) -> str:
    """Why the person may not do that to these rows; "" where they may."""
    few = FREE_IDS + 1
    count = bounded_count(rows, few)
    if count == 0:
        wanted = ", ".join(needed(form.wish({}, None)))
        return f"None of these is open and yours to redrive like this: you need {wanted}."
    if count == few and bounded_count(scoped(request, rows, Permission.BULK), few) < few:
        return f"More than {FREE_IDS} at once need the permission bulk. Ask an administrator."
    return ""
