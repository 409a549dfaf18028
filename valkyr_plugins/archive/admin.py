"""The archive in the admin: its files by day, and the pages of archived executions."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext, gettext_noop

from executions.public.access import Actor, Operation, record
from executions.public.admin import (
    AdminOperation,
    FactAdmin,
    OperatingAdmin,
    Page,
    PageSection,
    TabFilter,
    done_to,
    facts,
    hidden_section,
    json_section,
    links,
    marks,
    may,
    text_section,
)
from executions.public.admin_skin import display
from executions.public.errors import ValkyrError
from executions.public.language import lazy
from executions.public.lifecycle import archived_page
from executions.public.models import Permission
from valkyr_plugins.archive import reading, restoring
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState
from valkyr_plugins.archive.reading import ArchivedRecord

MARKS = {
    FileState.WRITING: (lazy("being written"), "edit_note", "blue"),
    FileState.STORED: (lazy("stored"), "inventory_2", "green"),
    FileState.DELETING: (lazy("being deleted"), "delete", "grey"),
}
# Maximum number of executions on a file's page, and of runs on an execution's page.
SHOWN = 100


class FileStates(TabFilter):
    """Filters files by state: stored, or being written or deleted."""

    title = lazy("state")
    parameter_name = "state"
    field = "state"
    groups = {
        "stored": (FileState.STORED,),
        gettext_noop("unfinished"): (FileState.WRITING, FileState.DELETING),
    }


@admin.register(ArchiveFile)
class ArchiveFileAdmin(FactAdmin):
    """The files of the archive, with the day on which their executions ended."""

    list_display = (
        "ended_on", "of", "mark", "executions", "runs", "dead_letters", "bytes", "stored", "problem"
    )  # fmt: skip
    list_display_links = ("ended_on",)
    list_select_related = ("workspace",)
    list_filter = (FileStates,)
    search_ids = ("id", "workspace_id")
    search_texts = ("workspace__slug", "workspace__name")
    ordering = ("-day", "-id")
    empty_text = lazy("No files yet. With VALKYR_ARCHIVE, executions are archived before deletion.")

    @display(description=lazy("day"))
    def ended_on(self, row: ArchiveFile) -> str:
        """Return the day on which the executions ended, and the number of the part."""
        return str(row)

    @display(description=lazy("workspace"))
    def of(self, row: ArchiveFile) -> str:
        """Return the file's workspace."""
        return str(row.workspace)

    @display(description=lazy("state"))
    def mark(self, row: ArchiveFile) -> Any:
        """Return the badge of the file's state, or of its failure."""
        if row.error:
            return marks.mark(gettext("failed"), "error", "red")
        return marks.mark(*MARKS[FileState(row.state)])

    @display(description=lazy("size"))
    def bytes(self, row: ArchiveFile) -> str:
        """Return the file's size."""
        return filesizeformat(row.size)

    @display(description=lazy("stored"))
    def stored(self, row: ArchiveFile) -> Any:
        """Return how long ago the file was stored."""
        return marks.ago(row.stored_at)

    @display(description=lazy("error"))
    def problem(self, row: ArchiveFile) -> str:
        """Return the error from writing or deleting the file, or ""."""
        return marks.clipped(row.error)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the file's properties and some of its executions."""
        known = [
            (gettext("Workspace"), str(obj.workspace)),
            (gettext("Day"), f"{obj.day:%Y-%m-%d}"),
            (gettext("File"), marks.copyable(obj.name)),
            (gettext("Executions"), f"{obj.executions:,}"),
            (gettext("Runs"), f"{obj.runs:,}"),
            (gettext("Dead letters"), f"{obj.dead_letters:,}"),
            (gettext("Size"), filesizeformat(obj.size)),
            ("SHA-256", marks.copyable(obj.sha256)),
            (gettext("Created"), marks.ago(obj.created_at)),
            (gettext("Stored"), marks.ago(obj.stored_at)),
            (gettext("Error"), obj.error),
        ]
        rows = ArchivedExecution.objects.filter(file=obj).order_by("-id")[:SHOWN]
        listed = PageSection(
            gettext("Executions"),
            headers=(gettext("Execution"), gettext("Ended")),
            rows=[[_link(row.pk), marks.ago(row.ended_at)] for row in rows],
            empty=gettext("None."),
        )
        return Page([self.mark(obj)], facts(known), [listed, done_to(obj.pk)])


def _restore(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
    return restoring.restore(pk, actor=actor, reason=data.get("reason", ""))


def _page_of(execution: Any) -> str:
    return links.page("executions_workflowexecution", execution.pk)


RESTORE = AdminOperation(
    Operation(name="restore", apply=_restore),
    title=lazy("Restore…"),
    icon="unarchive",
    done=lazy("restored"),
    question=lazy(
        "Restores the execution and its runs, so that you can replay and fork it. Retention "
        "deletes the execution again later, but the archive keeps it."
    ),
    primary=True,
    bulk=False,
    destination=_page_of,
)


@admin.register(ArchivedExecution)
class ArchivedExecutionAdmin(OperatingAdmin, FactAdmin):
    """Archived executions. Opening one writes an audit entry."""

    operations = (RESTORE,)
    list_display = ("__str__", "of", "ended", "in_file")
    list_display_links = ("__str__",)
    list_select_related = ("workspace", "file")
    search_ids = ("id",)
    ordering = ("-id",)
    empty_text = lazy("No archived executions.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the executions that have a copy, without erased executions."""
        return super().get_queryset(request).filter(file__isnull=False)

    @display(description=lazy("workspace"))
    def of(self, row: ArchivedExecution) -> str:
        """Return the execution's workspace."""
        return str(row.workspace)

    @display(description=lazy("ended"))
    def ended(self, row: ArchivedExecution) -> Any:
        """Return how long ago the execution ended."""
        return marks.ago(row.ended_at)

    @display(description=lazy("file"))
    def in_file(self, row: ArchivedExecution) -> Any:
        """Return a link to the execution's file."""
        return links.to("valkyr_archive_archivefile", row.file_id, row.file)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the archived record and write an audit entry, or show the error."""
        try:
            found = reading.load(obj.pk)
        except ValkyrError as error:
            known = [(gettext("File"), self.in_file(obj))]
            problem = text_section(gettext("Error"), error.message, error=True)
            return Page([marks.mark(gettext("failed"), "error", "red")], facts(known), [problem])
        record(
            Actor.of_request(request),
            "archive.open",
            workspace_id=obj.workspace_id,
            object_type="WorkflowExecution",
            object_id=obj.pk,
        )
        execution = found.execution
        known = [
            (gettext("Workflow"), execution.workflow_slug),
            (gettext("Version"), f"v{execution.version_number}"),
            (gettext("Started"), marks.ago(execution.started_at)),
            (gettext("Ended"), marks.ago(execution.finished_at)),
            (gettext("Archived"), marks.ago(found.file.stored_at)),
            (gettext("File"), self.in_file(obj)),
            *(execution.labels or {}).items(),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        archived = marks.mark(gettext("archived"), "inventory_2", "grey")
        sections = [*_payloads(request, found), *_parts(found), done_to(obj.pk)]
        return Page([marks.state(execution.state), archived], facts(known), sections)


def _payloads(request: HttpRequest, found: ArchivedRecord) -> list[PageSection]:
    execution = found.execution
    sections = []
    if execution.error_message:
        sections.append(text_section(gettext("Error"), execution.error_message, error=True))
    shown = may(request, execution, Permission.VIEW_PAYLOADS)
    for title, name in (
        (gettext("Payload"), "trigger_payload"),
        (gettext("Variables"), "context_data"),
        (gettext("Output"), "output"),
    ):
        sections.append(
            json_section(title, getattr(execution, name)) if shown else hidden_section(title)
        )
    if shown:
        for run in found.runs[:SHOWN]:
            values = {"inputs": run.inputs, "outputs": run.outputs, "logs": run.logs}
            sections.append(json_section(run.step_path, values))
    return sections


def _parts(found: ArchivedRecord) -> list[PageSection]:
    runs = PageSection(
        gettext("Runs"),
        headers=(gettext("Step"), gettext("State"), gettext("Attempt"), gettext("Duration"),
                 gettext("Error")),
        rows=[
            [
                marks.path(run.step_path),
                marks.state(run.state),
                str(run.attempt),
                marks.took(run.duration_ms),
                marks.clipped(run.error),
            ]
            for run in found.runs[:SHOWN]
        ],
        empty=gettext("None."),
    )  # fmt: skip
    letters = PageSection(
        gettext("Dead letters"),
        headers=(gettext("Step"), gettext("Reason"), gettext("Resolution")),
        rows=[
            [
                marks.path(one.step_path),
                marks.clipped(one.failure_reason),
                str(one.get_resolution_display()),
            ]
            for one in found.dead_letters[:SHOWN]
        ],
        empty=gettext("None."),
    )
    return [runs, letters] if found.dead_letters else [runs]


def _link(pk: UUID) -> Any:
    return links.to("valkyr_archive_archivedexecution", pk, pk)


@archived_page.provide
def _address(request: HttpRequest, pk: str) -> str:
    """Return the address of an archived execution's page; "" if the user cannot open the page."""
    model_admin = admin.site.get_model_admin(ArchivedExecution)
    found = model_admin.get_object(request, pk)
    return links.page("valkyr_archive_archivedexecution", found.pk) if found else ""
