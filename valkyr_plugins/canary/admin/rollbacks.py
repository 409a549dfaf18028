"""Rollbacks, and the executions that they settle."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.public.admin import FactAdmin, Page, PageSection, facts, links, marks
from executions.public.admin_skin import display
from executions.public.language import lazy
from valkyr_plugins.canary.models import VersionRollback


@admin.register(VersionRollback)
class VersionRollbackAdmin(FactAdmin):
    """Withdrawn versions, and the treatment of their executions."""

    list_display = ("__str__", "treatment", "created", "finished", "counts")
    list_select_related = ("bad__workflow", "good", "workflow")
    list_defer = (
        "bad__source", "bad__definition", "bad__workflow__definition", "good__source",
        "good__definition", "workflow__definition",
    )  # fmt: skip
    list_filter = ("treatment",)
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")
    ordering = ("-id",)
    empty_text = lazy("No rollbacks yet.")

    @display(description=lazy("requested"))
    def created(self, row: VersionRollback) -> Any:
        """Return how long ago the rollback was requested."""
        return marks.ago(row.created_at)

    @display(description=lazy("finished"))
    def finished(self, row: VersionRollback) -> Any:
        """Return how long ago the rollback finished; a dash while executions are being settled."""
        return marks.EMPTY if row.finished_at is None else marks.ago(row.finished_at)

    @display(description=lazy("executions"))
    def counts(self, row: VersionRollback) -> str:
        """Return the numbers of cancelled, forked and unsettled executions."""
        return gettext("{cancelled} cancelled, {forked} forked, {failed} unsuccessful").format(
            cancelled=row.cancelled, forked=row.forked, failed=row.failed
        )

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the rollback, and the executions that could not be settled."""
        started = links.listing("executions_workflowexecution", version=obj.bad_id)
        known = [
            (gettext("Workflow"), links.to("executions_workflow", obj.workflow_id, obj.workflow)),
            (gettext("Withdrawn version"), f"v{obj.bad.number}"),
            (gettext("Replaced by"), f"v{obj.good.number}"),
            (
                gettext("Executions"),
                links.link(started, gettext("started on the withdrawn version")),
            ),
            (gettext("Treatment"), obj.get_treatment_display()),
            (gettext("Result"), self.counts(obj)),
            (gettext("Reason"), obj.reason),
            (gettext("Requested by"), obj.created_by_name),
            (gettext("Requested"), marks.ago(obj.created_at)),
            (gettext("Finished"), marks.ago(obj.finished_at)),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        refused = PageSection(
            gettext("Executions that could not be cancelled or forked"),
            headers=(gettext("Execution"), gettext("Reason")),
            rows=[
                [links.to("executions_workflowexecution", one["id"], one["id"]), one["reason"]]
                for one in obj.refused
            ],
            empty=gettext("None."),
        )
        return Page([str(obj)], facts(known), [refused])
