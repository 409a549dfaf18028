"""The failure to take along, shown in a dialog: its request, the call that requeues it, a test."""

from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join

from dlq.admin.story import copy_of
from dlq.copying.making import KINDS, CannotCopy, kind_of
from dlq.models import DeadLetterEntry
from executions.admin.engine import ScopedAdmin
from executions.admin.scope import may
from executions.admin.sections import PageSection
from executions.states import Permission

NAME = "dlq_deadletterentry_copy"
SAID = "Nothing secret stands in it: fill in what is named. Read it before you run it."


def copying_section(entry: DeadLetterEntry, *, sees: bool) -> PageSection:
    """A button for each kind that this failure has, and that the person may see."""
    offered = [
        (reverse(f"admin:{NAME}", args=[entry.pk, kind.name]), kind.icon, kind.title)
        for kind in KINDS.values()
        if (sees or not kind.payload) and kind.offered(entry)
    ]
    buttons = format_html_join(
        "",
        '<a class="vk-button" href="{0}" hx-get="{0}" hx-target="#modal-content" '
        'hx-select="#dialog" x-on:htmx:after-on-load="openModal = true">'
        '<span class="material-symbols-outlined" aria-hidden="true">{1}</span>{2}</a>',
        offered,
    )
    return PageSection("Take it along", body=format_html('<div class="vk-take">{}</div>', buttons))


class CopyingAdmin(ScopedAdmin):
    """An admin of dead letters with a dialog a kind of copy."""

    def get_urls(self) -> list[Any]:
        """The dialogs' addresses before the admin's own, whose last one takes anything."""
        view = self.admin_site.admin_view(self.copied)
        return [path("<uuid:pk>/copy/<slug:kind>/", view, name=NAME), *super().get_urls()]

    def copied(self, request: HttpRequest, pk: UUID, kind: str) -> HttpResponse:
        """The dialog with the text; who may not see payloads sees none here either."""
        row = self.get_or_refuse(request, str(pk))
        wanted = kind_of(kind)
        if wanted is None:
            raise Http404(f"Nothing is copied as {kind}; there are {', '.join(KINDS)}.")
        if wanted.payload and not may(request, row, Permission.VIEW_PAYLOADS):
            raise PermissionDenied("That shows inputs, which needs the permission view_payloads.")
        context: dict[str, Any] = {"dialog": {"title": wanted.title, "description": SAID}}
        try:
            context["shown"] = copy_of(wanted.text(row), "the text")
        except CannotCopy as error:
            context["refusal"] = str(error)
        return TemplateResponse(request, "unfold/helpers/dialog.html", context)
