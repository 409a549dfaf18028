"""Export dead letters as JSON lines, or one dead letter as a curl command, API call or test."""

from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext

from dlq.admin.attempts import copy_of
from dlq.browse import export
from dlq.copying.copies import KINDS, CannotCopy, kind_of
from dlq.models import DeadLetterEntry
from executions.access.actor import Actor
from executions.admin.base import ScopedAdmin
from executions.admin.scope import may
from executions.admin.sections import PageSection
from executions.admin.skin import dialog
from executions.language import lazy
from executions.states import Permission

EXPORT_URL_NAME = "dlq_deadletterentry_export"


class ExportingAdmin(ScopedAdmin):
    """A triage list whose filtered rows can be exported."""

    def links(self, request: HttpRequest, changelist: Any) -> list[tuple[str, str, str]]:
        """Return the list's own links, and a link to the export with the URL's filters."""
        address = f"{reverse(f'admin:{EXPORT_URL_NAME}')}?{request.GET.urlencode()}"
        own: list[tuple[str, str, str]] = super().links(request, changelist)
        return [*own, (gettext("Export…"), "download", address)]

    def get_urls(self) -> list[Any]:
        """Return the export's URL, then the admin's URLs, the last of which matches every path."""
        view = self.admin_site.admin_view(self.exported)
        return [path("export/", view, name=EXPORT_URL_NAME), *super().get_urls()]

    def exported(self, request: HttpRequest) -> HttpResponseBase:
        """On GET, show the number of rows and ask for confirmation; on POST, return the file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        changelist = self.filtered(request)
        rows = changelist.queryset.defer(None).select_related(None)
        if request.method == "POST":
            filters = {name: request.GET.getlist(name) for name in request.GET}
            batch = export.begin(rows, request.user, filters, Actor.of_request(request))
            return export.answer(request, "dead-letters.jsonl", batch)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Export dead letters"),
            "opts": self.opts,
            "count": changelist.count_text,
            "number": changelist.result_count,
            "back": f"{reverse('admin:dlq_deadletterentry_changelist')}?{request.GET.urlencode()}",
        }
        return TemplateResponse(request, "dlq/export.html", context)


# Copies of a failure, shown in a dialog: its request, the call that requeues it, and a test.


COPY_URL_NAME = "dlq_deadletterentry_copy"
SAID = lazy(
    "Likely secrets are replaced by placeholders. Fill them in before you run the copy. Look for "
    "other secrets before you share the copy."
)


def copying_section(entry: DeadLetterEntry, *, sees: bool) -> PageSection:
    """Return a panel with a button for each offered copy format that the user may see."""
    offered = [
        (
            reverse(f"admin:{COPY_URL_NAME}", args=[entry.pk, kind.name]),
            kind.icon,
            gettext(kind.title),
        )
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
    return PageSection(
        gettext("Copy this failure"), body=format_html('<div class="vk-take">{}</div>', buttons)
    )


class CopyingAdmin(ScopedAdmin):
    """An admin of dead letters with a dialog for each copy format."""

    def get_urls(self) -> list[Any]:
        """Return the dialogs' URLs, then the admin's URLs, the last of which matches every path."""
        view = self.admin_site.admin_view(self.copied)
        return [path("<uuid:pk>/copy/<slug:kind>/", view, name=COPY_URL_NAME), *super().get_urls()]

    def copied(self, request: HttpRequest, pk: UUID, kind: str) -> HttpResponse:
        """Show a copy in a dialog. Raises Http404 for an unknown format, or PermissionDenied."""
        row = self.get_or_refuse(request, str(pk))
        wanted = kind_of(kind)
        if wanted is None:
            raise Http404(
                gettext("Cannot copy as {kind}. Choose one of {join}.").format(
                    kind=kind, join=", ".join(KINDS)
                )
            )
        if wanted.payload and not may(request, row, Permission.VIEW_PAYLOADS):
            raise PermissionDenied(
                gettext("This copy contains inputs. You need the permission view_payloads.")
            )
        context: dict[str, Any] = {"dialog": {"title": gettext(wanted.title), "description": SAID}}
        try:
            context["shown"] = copy_of(wanted.text(row), gettext("the text"))
        except CannotCopy as error:
            context["refusal"] = str(error)
        return dialog(self, request, context)
