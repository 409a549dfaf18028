"""Messages of queues that could not start anything: start again, or discard."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest

from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter, TabFilter
from executions.admin.operations import AdminOperation, JSONTextField, ReasonForm
from executions.admin.scope import may
from executions.admin.sections import Page, facts, hidden_section, payload_section, text_section
from executions.admin.skin import display
from executions.models import RefusedMessage, WorkflowExecution
from executions.states import Permission
from executions.triggers.queues import refused_messages

MARKS = {
    "": ("open", "inbox", "red"),
    refused_messages.STARTED: ("started again", "check_circle", "green"),
    refused_messages.DISCARDED: ("discarded", "do_not_disturb_on", "grey"),
}


class _Instead(JSONTextField):
    def clean(self, value: Any) -> Any:
        return super().clean(value) if str(value or "").strip() else refused_messages.AS_IT_CAME


class StartAgainForm(ReasonForm):
    """Asks for another payload, if any, and why."""

    payload = _Instead(
        label="Payload (JSON)", rows=8, help_text="Used instead of the body. Empty: as it came."
    )
    field_order = ("payload", "reason")


def _start_again(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    return refused_messages.start_again(
        pk, actor=actor, payload=data["payload"], reason=data["reason"]
    )


def _refuse_resolved(row: RefusedMessage) -> str:
    return f"Nothing to do: it is {MARKS[row.resolution][0]}." if row.resolved_at else ""


START_AGAIN = AdminOperation(
    Operation(
        name="start_again",
        apply=_start_again,
        needs=Permission.REDRIVE,
        refuse=_refuse_resolved,
    ),
    title="Start again…",
    icon="replay",
    done="started",
    question="Starts the workflow's latest version with this message.",
    form=StartAgainForm,
    primary=True,
    destination=lambda execution: links.page("executions_workflowexecution", execution.pk),
)
DISCARD = AdminOperation(
    Operation(
        name="discard",
        apply=lambda pk, actor, data: refused_messages.discard(
            pk, actor=actor, reason=data["reason"]
        ),
        needs=Permission.REDRIVE,
        refuse=_refuse_resolved,
    ),
    title="Discard…",
    icon="do_not_disturb_on",
    done="discarded",
    question="Nothing is started; the message stays here, put away.",
)


class ResolutionFilter(TabFilter):
    """Open ones first."""

    title = "resolution"
    parameter_name = field = "resolution"
    groups = {word: (value,) for value, (word, _, _) in MARKS.items()}
    default = "open"


@admin.register(RefusedMessage)
class RefusedMessageAdmin(OperatingAdmin, FactAdmin):
    """What `manage.py consume` took from a queue and could not start."""

    operations = (START_AGAIN, DISCARD)
    list_display = ("when", "workflow", "code", "reason_short", "mark")
    list_display_links = ("when",)
    list_select_related = ("trigger__workflow",)
    list_filter = (ResolutionFilter, AgeFilter)
    list_before_template = "valkyr/tabs.html"
    list_defer = ("body", "headers", "trigger__workflow__definition")
    ordering = ("-id",)
    empty_text = "No refused messages."
    workspace_path = "trigger__workflow__workspace_id"
    search_ids = ("id", "trigger_id")
    search_texts = ("code", "reason")

    @display(description="when")
    def when(self, row: RefusedMessage) -> Any:
        """How long ago."""
        return marks.ago(row.created_at)

    @display(description="workflow")
    def workflow(self, row: RefusedMessage) -> str:
        """Whose queue it came from."""
        return str(row.trigger.workflow)

    @display(description="reason")
    def reason_short(self, row: RefusedMessage) -> str:
        """The beginning of the reason."""
        return marks.clipped(row.reason)

    @display(description="resolution")
    def mark(self, row: RefusedMessage) -> Any:
        """What became of it, in word, icon and colour."""
        return marks.mark(*MARKS[row.resolution])

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """One message."""
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        started = (
            links.to("executions_workflowexecution", obj.execution_id, "Execution")
            if obj.execution_id
            else ""
        )
        return Page(
            [self.mark(obj), obj.reason],
            facts(
                [
                    ("Code", obj.code),
                    ("Came", marks.ago(obj.created_at)),
                    ("Trigger", links.to("executions_trigger", obj.trigger_id, obj.trigger)),
                    ("Queue", obj.trigger.settings.get("queue")),
                    ("Resolved", marks.ago(obj.resolved_at)),
                    ("Started", started),
                    ("Id", marks.copyable(obj.pk)),
                ]
            ),
            [
                text_section("Body", obj.body) if sees else hidden_section("Body", folded=False),
                payload_section("Headers", obj.headers, shown=sees),
            ],
        )
