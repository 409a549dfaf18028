"""Queue messages that could not start an execution: retry the start, or discard the message."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

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
from executions.language import lazy
from executions.models import RefusedMessage, WorkflowExecution
from executions.states import Permission
from executions.triggers.queues import refused_messages

MARKS = {
    "": (lazy("open"), "inbox", "red"),
    refused_messages.STARTED: (lazy("resubmitted"), "check_circle", "green"),
    refused_messages.DISCARDED: (lazy("discarded"), "do_not_disturb_on", "grey"),
}


class _Instead(JSONTextField):
    def clean(self, value: Any) -> Any:
        return super().clean(value) if str(value or "").strip() else refused_messages.AS_IT_CAME


class StartAgainForm(ReasonForm):
    """Asks for an optional payload that replaces the message's body, and for a reason."""

    payload = _Instead(
        label=lazy("Payload (JSON)"),
        rows=8,
        help_text=lazy("Replaces the message body. Leave empty to use the original body."),
    )
    field_order = ("payload", "reason")


def _start_again(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    return refused_messages.start_again(
        pk, actor=actor, payload=data["payload"], reason=data["reason"]
    )


def _refuse_resolved(row: RefusedMessage) -> str:
    return (
        gettext("This message is already {word}.").format(word=MARKS[row.resolution][0])
        if row.resolved_at
        else ""
    )


START_AGAIN = AdminOperation(
    Operation(
        name="start_again",
        apply=_start_again,
        needs=Permission.REDRIVE,
        refuse=_refuse_resolved,
    ),
    title=lazy("Resubmit…"),
    icon="replay",
    done=lazy("started"),
    question=lazy("Starts one execution of the workflow with this message."),
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
    title=lazy("Discard…"),
    icon="do_not_disturb_on",
    done=lazy("discarded"),
    question=lazy(
        "Discards the message without starting an execution. The message stays in the list."
    ),
)


class ResolutionFilter(TabFilter):
    """Filter by resolution; unresolved messages are the default."""

    title = lazy("resolution")
    parameter_name = field = "resolution"
    groups = {word: (value,) for value, (word, _, _) in MARKS.items()}
    default = "open"


@admin.register(RefusedMessage)
class RefusedMessageAdmin(OperatingAdmin, FactAdmin):
    """Queue messages that `manage.py consume` received but that could not start an execution."""

    operations = (START_AGAIN, DISCARD)
    list_display = ("when", "workflow", "code", "reason_short", "mark")
    list_display_links = ("when",)
    list_select_related = ("trigger__workflow",)
    list_filter = (ResolutionFilter, AgeFilter)
    list_before_template = "valkyr/tabs.html"
    list_defer = ("body", "headers", "trigger__workflow__definition")
    ordering = ("-id",)
    empty_text = lazy("No refused messages.")
    workspace_path = "trigger__workflow__workspace_id"
    search_ids = ("id", "trigger_id")
    search_texts = ("code", "reason")

    @display(description=lazy("when"))
    def when(self, row: RefusedMessage) -> Any:
        """Return the time since the message was refused."""
        return marks.ago(row.created_at)

    @display(description=lazy("workflow"))
    def workflow(self, row: RefusedMessage) -> str:
        """Return the workflow that the message's queue starts."""
        return str(row.trigger.workflow)

    @display(description=lazy("reason"))
    def reason_short(self, row: RefusedMessage) -> str:
        """Return the beginning of the reason."""
        return marks.clipped(row.reason)

    @display(description=lazy("resolution"))
    def mark(self, row: RefusedMessage) -> Any:
        """Return the message's resolution as a word with an icon and a colour."""
        return marks.mark(*MARKS[row.resolution])

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a refused message, with its body and its headers."""
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        started = (
            links.to("executions_workflowexecution", obj.execution_id, gettext("Execution"))
            if obj.execution_id
            else ""
        )
        return Page(
            [self.mark(obj), obj.reason],
            facts(
                [
                    (gettext("Code"), obj.code),
                    (gettext("Received"), marks.ago(obj.created_at)),
                    (
                        gettext("Trigger"),
                        links.to("executions_trigger", obj.trigger_id, obj.trigger),
                    ),
                    (gettext("Queue"), obj.trigger.settings.get("queue")),
                    (gettext("Resolved"), marks.ago(obj.resolved_at)),
                    (gettext("Started"), started),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
            [
                text_section(gettext("Body"), obj.body)
                if sees
                else hidden_section(gettext("Body"), folded=False),
                payload_section(gettext("Headers"), obj.headers, shown=sees),
            ],
        )
