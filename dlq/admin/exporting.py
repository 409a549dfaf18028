"""All that a list of dead letters shows, as JSON lines: asked by GET, taken by POST, recorded."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path, reverse

from dlq.browse import export, json_lines
from executions.access.actor import Actor
from executions.admin.engine import ScopedAdmin

NAME = "dlq_deadletterentry_export"


class ExportingAdmin(ScopedAdmin):
    """A list of triage that can be taken away as it is filtered."""

    def links(self, request: HttpRequest, changelist: Any) -> list[tuple[str, str, str]]:
        """The list's own, and the export of what its address says."""
        address = f"{reverse(f'admin:{NAME}')}?{request.GET.urlencode()}"
        own: list[tuple[str, str, str]] = super().links(request, changelist)
        return [*own, ("Export…", "download", address)]

    def get_urls(self) -> list[Any]:
        """The export's address before the admin's own, whose last one takes anything."""
        view = self.admin_site.admin_view(self.exported)
        return [path("export/", view, name=NAME), *super().get_urls()]

    def exported(self, request: HttpRequest) -> HttpResponseBase:
        """GET says how many there are and asks; POST gives the file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        changelist = self.get_changelist_instance(request)
        rows = changelist.queryset.defer(None).select_related(None)
        if request.method == "POST":
            filters = {name: request.GET.getlist(name) for name in request.GET}
            batch = export.begin(rows, request.user, filters, Actor.of_request(request))
            return json_lines.answer(request, "dead-letters.jsonl", batch)
        context = {
            **self.admin_site.each_context(request),
            "title": "Export dead letters",
            "opts": self.opts,
            "count": changelist.count_text,
            "back": f"{reverse('admin:dlq_deadletterentry_changelist')}?{request.GET.urlencode()}",
        }
        return TemplateResponse(request, "dlq/export.html", context)
