"""Migrations of executions in the admin: a list, a page for preview and progress, and buttons."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.public.access import Action, Actor, Operation
from executions.public.admin import (
    AdminOperation,
    FactAdmin,
    OperatingAdmin,
    Page,
    PageSection,
    ReasonForm,
    WorkflowAdmin,
    WorkflowExecutionAdmin,
    done_to,
    facts,
    links,
    marks,
)
from executions.public.admin_skin import IntegerInput, Textarea, TextInput, display
from executions.public.errors import NotFound, WrongState
from executions.public.language import lazy
from executions.public.models import WorkflowExecution
from runners.public.version_changes import VersionMove, move_execution
from valkyr_plugins.version_migration import operations
from valkyr_plugins.version_migration.models import (
    FINAL,
    ExecutionMigration,
    MigratedExecution,
    MigratedState,
    MigrationState,
)
from valkyr_plugins.version_migration.operations import TEXTS
from valkyr_plugins.version_migration.plan import MAX_CANARY, MAX_PATIENCE, MAX_RATE
from valkyr_plugins.version_migration.preview import GroupVerdict, MigrationGroup, preview

MARKS = {
    MigrationState.DRAFT: (lazy("draft"), "edit_note", "grey"),
    MigrationState.RUNNING: (lazy("running"), "sync", "blue"),
    MigrationState.PAUSED: (lazy("paused"), "pause_circle", "amber"),
    MigrationState.DONE: (lazy("done"), "check_circle", "green"),
    MigrationState.CANCELLED: (lazy("cancelled"), "cancel", "grey"),
}
VERDICTS = {
    GroupVerdict.MOVES: (lazy("would move"), "check_circle", "green"),
    GroupVerdict.BUSY: (lazy("a step is running"), "hourglass_top", "blue"),
    GroupVerdict.REFUSED: (lazy("cannot move"), "block", "red"),
    GroupVerdict.OVER: (lazy("has ended or left the version"), "done_all", "grey"),
    GroupVerdict.UNKNOWN: (lazy("not examined"), "help", "grey"),
}
SHOWN = 100
HIGHEST = 2**31 - 1


def _pairs(text: str) -> dict[str, str]:
    """Return the new step names, keyed by the old names, from lines such as `old = new`.

    Raises ValidationError.
    """
    names = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        old, equals, new = (part.strip() for part in line.partition("="))
        if not (old and equals and new):
            raise forms.ValidationError(
                gettext("Expected old = new, found {line}.").format(line=line[:80])
            )
        names[old] = new
    return names


class MigrationForm(ReasonForm):
    """The versions, the renamed steps and the pace of a migration."""

    source = forms.IntegerField(
        label=lazy("From version"), min_value=1, max_value=HIGHEST, widget=IntegerInput
    )
    target = forms.IntegerField(
        label=lazy("To version"),
        required=False,
        min_value=1,
        max_value=HIGHEST,
        widget=IntegerInput,
        help_text=lazy("Leave empty for the latest version."),
    )
    names = forms.CharField(
        label=lazy("Renamed steps"),
        required=False,
        widget=Textarea(attrs={"rows": 4, "placeholder": "charge = pay"}),
        help_text=lazy("One per line: old = new. In a container: refine.draft = write."),
    )
    canary = forms.IntegerField(
        label=lazy("Pause after this many executions"),
        min_value=0,
        max_value=MAX_CANARY,
        initial=10,
        widget=IntegerInput,
        help_text=lazy("0: do not pause."),
    )
    rate = forms.FloatField(
        label=lazy("Executions per second"),
        required=False,
        min_value=0.01,
        max_value=MAX_RATE,
        widget=TextInput(attrs={"autocomplete": "off", "inputmode": "decimal"}),
        help_text=lazy("Leave empty for no limit."),
    )
    patience_seconds = forms.IntegerField(
        label=lazy("Seconds to wait for a running step"),
        min_value=0,
        max_value=MAX_PATIENCE,
        initial=300,
        widget=IntegerInput,
    )
    field_order = (
        "source", "target", "names", "canary", "rate", "patience_seconds", "reason",
    )  # fmt: skip

    def clean_names(self) -> dict[str, str]:
        """Return the new names of the renamed steps, keyed by old name. Raises ValidationError."""
        return _pairs(self.cleaned_data["names"])


class VersionForm(ReasonForm):
    """The version on which one execution continues."""

    target = forms.IntegerField(
        label=lazy("To version"),
        required=False,
        min_value=1,
        max_value=HIGHEST,
        widget=IntegerInput,
        help_text=lazy("Leave empty for the latest version."),
    )
    field_order = ("target", "reason")


def _move_one(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    """Move one execution now and return it. Raises NotFound, WrongState or an error of the move."""
    rows = WorkflowExecution.objects.select_related("workflow").defer("workflow__definition")
    execution = rows.get(pk=pk)
    workflow = execution.workflow
    if data["target"] is None:
        target_id = workflow.latest_version_id
    else:
        published = workflow.versions.filter(number=data["target"], kind="published")
        target_id = published.filter(withdrawn_at=None).values_list("pk", flat=True).first()
    if target_id is None:
        raise NotFound(f"Workflow {workflow.name!r} has no such published version.")
    if target_id == execution.version_id:
        raise WrongState("The execution is on that version already.", execution.state)
    move = VersionMove(execution.version_id, target_id)
    move_execution(pk, move, actor=actor, reason=data["reason"])
    return execution


def _refuse_ended(row: WorkflowExecution) -> str:
    return gettext("This execution has ended.") if row.finished_at is not None else ""


def _page_of(migration: ExecutionMigration) -> str:
    return links.page("valkyr_version_migration_executionmigration", migration.pk)


MAKE = AdminOperation(
    operations.MAKE,
    title=lazy("Migrate executions…"),
    icon="move_up",
    done=lazy("migration planned"),
    question=lazy(
        "Lists the live executions of a version, and shows where they would continue. No execution "
        "moves before you start the migration."
    ),
    form=MigrationForm,
    bulk=False,
    destination=_page_of,
)
MOVE_ONE = AdminOperation(
    Operation(name="migrate", apply=_move_one, needs=Action.AUTHOR, refuse=_refuse_ended),
    title=lazy("Migrate to another version…"),
    icon="move_up",
    done=lazy("migrated"),
    question=lazy(
        "Finished steps keep their results, and waiting steps keep waiting. The next steps are "
        "those of the new version."
    ),
    form=VersionForm,
)
START = AdminOperation(
    operations.START,
    title=lazy("Start…"),
    icon="play_arrow",
    done=lazy("started"),
    question=lazy(
        "Moves the executions at the rate you set. If you set a pause, the migration pauses after "
        "the first executions."
    ),
    primary=True,
    bulk=False,
)
RESUME = AdminOperation(
    operations.RESUME,
    title=lazy("Resume…"),
    icon="play_circle",
    done=lazy("resumed"),
    question=lazy("Moves the remaining executions."),
    primary=True,
    bulk=False,
)
PAUSE = AdminOperation(
    operations.PAUSE,
    title=lazy("Pause…"),
    icon="pause_circle",
    done=lazy("paused"),
    question=lazy("Stops moving executions until you resume the migration."),
    bulk=False,
)
CANCEL = AdminOperation(
    operations.CANCEL,
    title=lazy("Cancel…"),
    icon="cancel",
    done=lazy("cancelled"),
    question=lazy(
        "Stops moving executions permanently. Executions that moved stay on the new version."
    ),
    danger=True,
    bulk=False,
)


@admin.register(ExecutionMigration)
class ExecutionMigrationAdmin(OperatingAdmin, FactAdmin):
    """Migrations of live executions to another version."""

    operations = (START, RESUME, PAUSE, CANCEL)
    list_display = ("__str__", "mark", "counts", "created", "who")
    list_display_links = ("__str__",)
    list_select_related = ("source", "target", "workflow")
    list_defer = TEXTS
    list_filter = ("state",)
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")
    ordering = ("-id",)
    empty_text = lazy("No migrations yet. Open a workflow, then choose “Migrate executions…”.")

    @display(description=lazy("state"))
    def mark(self, row: ExecutionMigration) -> Any:
        """Return the badge of the migration's state."""
        return marks.mark(*MARKS[MigrationState(row.state)])

    @display(description=lazy("executions"))
    def counts(self, row: ExecutionMigration) -> str:
        """Return the numbers of moved, refused, skipped and queued executions."""
        return gettext(
            "{moved} of {total} moved, {refused} refused, {skipped} skipped, {left} queued"
        ).format(
            moved=f"{row.moved:,}",
            total=f"{row.total:,}",
            refused=f"{row.refused:,}",
            skipped=f"{row.skipped:,}",
            left=f"{row.left:,}",
        )

    @display(description=lazy("created"))
    def created(self, row: ExecutionMigration) -> Any:
        """Return how long ago the migration was planned."""
        return marks.ago(row.created_at)

    @display(description=lazy("created by"))
    def who(self, row: ExecutionMigration) -> str:
        """Return the name of the user who planned the migration."""
        return row.created_by_name

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the plan, the results and, in DRAFT or PAUSED, the preview."""
        names = ", ".join(f"{old} → {new}" for old, new in sorted(obj.names.items()))
        known = [
            (gettext("Workflow"), links.to("executions_workflow", obj.workflow_id, obj.workflow)),
            (gettext("From version"), f"v{obj.source.number}"),
            (gettext("To version"), f"v{obj.target.number}"),
            (gettext("Renamed steps"), names),
            (gettext("Executions"), self.counts(obj)),
            (gettext("Reason for the pause"), obj.pause_reason),
            (gettext("Executions before the pause"), f"{obj.canary:,}" if obj.canary else ""),
            (gettext("Executions per second"), f"{obj.rate:g}" if obj.rate else ""),
            (gettext("Reason"), obj.reason),
            (gettext("Created"), marks.ago(obj.created_at)),
            (gettext("Created by"), obj.created_by_name),
            (gettext("Started"), marks.ago(obj.started_at)),
            (gettext("Finished"), marks.ago(obj.finished_at)),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        running = obj.state == MigrationState.RUNNING
        sections = [] if running or obj.state in FINAL else [_groups(obj)]
        sections += [_not_moved(obj), done_to(obj.pk)]
        refresh = 2 if running else 0
        return Page([self.mark(obj), str(obj)], facts(known), sections, refresh=refresh)


def _groups(migration: ExecutionMigration) -> PageSection:
    def row(group: MigrationGroup) -> list[Any]:
        moves = group.verdict == GroupVerdict.MOVES
        at = ", ".join(group.at) or (gettext("the beginning") if moves else marks.EMPTY)
        starts = ", ".join(group.starts)
        also = gettext("; starts {steps} immediately").format(steps=starts) if starts else ""
        return [
            f"{group.count:,}",
            marks.mark(*VERDICTS[group.verdict]),
            " ".join(group.reasons) if group.reasons else at + also,
            links.to("executions_workflowexecution", group.example, gettext("execution")),
        ]

    found = preview(migration)
    return PageSection(
        gettext("Preview of the queued executions"),
        headers=(
            gettext("Executions"), gettext("Result"), gettext("Continues at, or reason"),
            gettext("Example"),
        ),
        rows=[row(group) for group in found.groups[:SHOWN]],
        empty=gettext("None is queued."),
    )  # fmt: skip


def _not_moved(migration: ExecutionMigration) -> PageSection:
    rows = MigratedExecution.objects.filter(
        migration=migration, state__in=[MigratedState.REFUSED, MigratedState.SKIPPED]
    )
    return PageSection(
        gettext("Executions that were not moved"),
        headers=(gettext("Execution"), gettext("State"), gettext("Reason")),
        rows=[
            [
                links.to("executions_workflowexecution", one.execution_id, one.execution_id),
                one.get_state_display(),
                one.reason,
            ]
            for one in rows.order_by("id")[:SHOWN]
        ],
        empty=gettext("None."),
    )


WorkflowAdmin.offer(MAKE)
WorkflowExecutionAdmin.offer(MOVE_ONE)
