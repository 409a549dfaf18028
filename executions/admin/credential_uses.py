"""The uses of credentials by steps: a list, and the sections of a credential's page."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.access import Action
from executions.admin import links, marks
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter
from executions.admin.sections import Page, PageSection, facts
from executions.admin.skin import TextFilter, display
from executions.credentials import uses
from executions.language import lazy
from executions.models import Credential, CredentialUse


class AllowedFilter(admin.SimpleListFilter):
    """Filter by result: allowed or refused uses."""

    title = lazy("result")
    parameter_name = "result"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the two results: allowed and refused."""
        return [("allowed", gettext("allowed")), ("refused", gettext("refused"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows with the chosen result; all rows if none is chosen."""
        match self.value():
            case "allowed":
                return queryset.filter(allowed=True)
            case "refused":
                return queryset.filter(allowed=False)
        return queryset


class CredentialNameFilter(TextFilter):
    """Filter by the exact name of the credential."""

    title = lazy("credential")
    parameter_name = "credential"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows with the entered name; all rows if no name is entered."""
        name = (self.value() or "").strip()
        return queryset.filter(name=name) if name else queryset


@admin.register(CredentialUse)
class CredentialUseAdmin(FactAdmin):
    """The list of allowed and refused uses of credentials by steps, without values."""

    needs = Action.AUTHOR
    list_display = ("when", "name", "result", "workspace", "step_path", "module", "host_short")
    list_display_links = ("when",)
    list_select_related = ("workspace",)
    list_filter = (CredentialNameFilter, AllowedFilter, AgeFilter)
    list_filter_submit = True
    ordering = ("-id",)
    empty_text = lazy("No step has used a credential.")
    search_ids = ("id", "credential_id", "workflow_id", "execution_id", "run_id")

    @display(description=lazy("when"))
    def when(self, row: CredentialUse) -> Any:
        """Return the time since the credential was used."""
        return marks.ago(row.created_at)

    @display(description=lazy("result"))
    def result(self, row: CredentialUse) -> Any:
        """Return a mark that says whether the step received the credential."""
        return result_of(row)

    @display(description=lazy("host"))
    def host_short(self, row: CredentialUse) -> str:
        """Return the beginning of the host; a dash if there is no host."""
        return marks.clipped(row.host, 60) or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of one use of a credential."""
        credential = links.to("executions_credential", obj.credential_id, obj.name)
        return Page(
            [result_of(obj), obj.reason] if obj.reason else [result_of(obj)],
            facts(
                [
                    (gettext("When"), marks.ago(obj.created_at)),
                    (gettext("Workspace"), str(obj.workspace)),
                    (gettext("Credential"), credential if obj.credential_id else obj.name),
                    (gettext("Version"), obj.version),
                    (gettext("Workflow"), _link("executions_workflow", obj.workflow_id)),
                    (
                        gettext("Execution"),
                        _link("executions_workflowexecution", obj.execution_id),
                    ),
                    (gettext("Run"), _link("runners_run", obj.run_id)),
                    (gettext("Step"), obj.step_path),
                    (gettext("Attempt"), obj.attempt),
                    (gettext("Module"), obj.module),
                    (gettext("Host"), obj.host),
                    (gettext("Remote runner"), gettext("yes") if obj.remote else gettext("no")),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
        )


def result_of(row: CredentialUse) -> Any:
    """Return the mark of an allowed or refused use."""
    if row.allowed:
        return marks.mark(gettext("allowed"), "check_circle", "green")
    return marks.mark(gettext("refused"), "block", "red")


def sections(credential: Credential) -> list[PageSection]:
    """Return sections with a credential's uses per workflow and with its refused uses, if any."""
    refused = uses.refused(credential)
    listing = links.listing("executions_credentialuse", credential=credential.name)
    found = uses.by_workflow(credential)
    return [
        PageSection(
            gettext("Uses"),
            headers=(
                gettext("Workflow"),
                gettext("Uses"),
                gettext("Refused"),
                gettext("Last used"),
            ),
            rows=[
                [
                    links.to(
                        "executions_workflow",
                        one.workflow_id,
                        one.name or marks.short(one.workflow_id),
                    ),
                    str(one.many),
                    str(one.refused),
                    marks.ago(one.last),
                ]
                for one in found
            ],
            empty=gettext("No step has used this credential."),
            folded=not found,
            more=links.link(listing, gettext("All uses")) if found else "",
        ),
        *([_refused(refused)] if refused else []),
    ]


def _refused(found: list[CredentialUse]) -> PageSection:
    return PageSection(
        gettext("Refused uses"),
        headers=(
            gettext("When"),
            gettext("Step"),
            gettext("Execution"),
            gettext("Host"),
            gettext("Reason"),
        ),
        rows=[
            [
                marks.ago(row.created_at),
                row.step_path,
                _link("executions_workflowexecution", row.execution_id),
                row.host or marks.EMPTY,
                row.reason,
            ]
            for row in found
        ],
        folded=True,
        error=True,
    )


def _link(model: str, pk: Any, text: str = "") -> Any:
    return links.to(model, pk, text or marks.short(pk))
