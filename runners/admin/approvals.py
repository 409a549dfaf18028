"""The admin of approvals. It lists pending approvals by default, with buttons to decide on them."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop

from executions.access import Action, powers_on
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter, TabFilter
from executions.admin.operations import AdminOperation
from executions.admin.sections import Page, PageSection, facts, text_section
from executions.admin.skin import DialogForm, Textarea, display
from executions.language import lazy
from runners.models import Approval
from runners.waits.approvals import APPROVED, REJECTED, decide, may_decide

MARKS = {
    "approved": (lazy("approved"), "check_circle", "green"),
    "rejected": (lazy("rejected"), "cancel", "red"),
    "expired": (lazy("expired"), "timer_off", "amber"),
}
ANYBODY = lazy("users who may operate executions")


class CommentForm(DialogForm):
    """The form for a comment on the decision."""

    comment = forms.CharField(
        required=False,
        max_length=2_000,
        widget=Textarea(attrs={"rows": 3}),
        help_text=lazy("The workflow can read the comment. The activity log records it."),
        label=lazy("Comment"),
    )


def _applying(decision: str) -> Callable[[UUID, Actor, Mapping[str, Any]], Any]:
    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
        assert actor.user_id is not None
        user = get_user_model().objects.get(pk=actor.user_id)
        return decide(pk, decision, data["comment"], user=user, actor=actor)

    return apply


def _refuse_decided(row: Approval) -> str:
    if row.state == "WAITING":
        return ""
    known = MARKS.get(row.decision) or marks.MARKS[row.state]
    return gettext("This approval is already {value}.").format(value=known[0])


APPROVE = AdminOperation(
    Operation(
        name="approve",
        apply=_applying(APPROVED),
        needs=Action.VIEW,  # any viewer, because the approval itself names its approvers
        refuse=_refuse_decided,
    ),
    title=lazy("Approve…"),
    icon="check_circle",
    done=lazy("approved"),
    question=lazy("Continues the execution with the outcome “approved”."),
    form=CommentForm,
    primary=True,
)
REJECT = AdminOperation(
    Operation(
        name="reject",
        apply=_applying(REJECTED),
        needs=Action.VIEW,
        refuse=_refuse_decided,
    ),
    title=lazy("Reject…"),
    icon="cancel",
    done=lazy("rejected"),
    question=lazy("Continues the execution with the outcome “rejected”."),
    form=CommentForm,
    danger=True,
)


class DecisionFilter(TabFilter):
    """Filters approvals by state; by default, shows approvals that wait for a decision."""

    title = lazy("state")
    parameter_name = field = "state"
    default = "waiting"
    groups = {
        "waiting": ("WAITING",),
        gettext_noop("decided"): ("PENDING", "RUNNING", "SUCCESS"),
        "cancelled": ("CANCELLED",),
    }


@admin.register(Approval)
class ApprovalAdmin(OperatingAdmin, FactAdmin):
    """The admin of approvals; each approval is a question to users, with their decision."""

    operations = (APPROVE, REJECT)
    list_display = ("question", "mark", "workflow", "who", "asked", "expires", "decided_by")
    list_display_links = ("question",)
    list_select_related = ("execution__workflow",)
    list_filter = (DecisionFilter, AgeFilter)
    list_before_template = "valkyr/tabs.html"
    list_defer = (
        "inputs",
        "outputs",
        "overrides",
        "logs",
        "error_details",
        "heartbeat_details",
        "execution__trigger_payload",
        "execution__context_data",
        "execution__output",
        "execution__metrics_snapshot",
        "execution__error_stack_trace",
        "execution__workflow__definition",
    )
    ordering = ("-id",)
    empty_text = lazy("No pending approvals. Steps that use flow.approval appear here.")
    empty_about = lazy(
        "An approval step waits until a person approves or rejects it, or until it times out."
    )
    search_ids = ("id", "execution_id")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """Return the possible buttons; [] if the user may not decide or the row is missing."""
        row = self.get_object(request, str(object_id))
        user: Any = request.user
        if row is None:
            return []
        may = powers_on(user, row.execution.workspace_id, row.execution.workflow_id)
        if not may_decide(user.get_username(), may, row.approvers):
            return []
        return super().get_actions_detail(request, object_id)

    @display(description=lazy("question"))
    def question(self, row: Approval) -> str:
        """Return the question, shortened for the list."""
        return marks.clipped(str(row))

    @display(description=lazy("state"))
    def mark(self, row: Approval) -> Any:
        """Return the badge of the decision, or of the run's state if there is no decision."""
        return mark_of(row)

    @display(description=lazy("execution"))
    def workflow(self, row: Approval) -> Any:
        """Return a link to the execution; the text of the link is the workflow's name."""
        address = links.page("executions_workflowexecution", row.execution_id)
        return links.link(address, marks.clipped(str(row.execution.workflow), 40))

    @display(description=lazy("approvers"))
    def who(self, row: Approval) -> str:
        """Return the names of the approvers; if there are none, a description of all operators."""
        return marks.clipped(", ".join(row.approvers) or ANYBODY, 60)

    @display(description=lazy("requested"))
    def asked(self, row: Approval) -> Any:
        """Return how long ago the approval was requested."""
        return marks.ago(row.started_at)

    @display(description=lazy("expires"))
    def expires(self, row: Approval) -> Any:
        """Return when the decision is due; a dash if it has no due time or is no longer awaited."""
        return marks.ago(row.due_at) if row.state == "WAITING" else marks.EMPTY

    @display(description=lazy("decided by"))
    def decided_by(self, row: Approval) -> str:
        """Return the name of the user who decided; a dash if no user has decided."""
        return row.decided_by or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of one approval."""
        sections: list[PageSection] = []
        if obj.description:
            sections.append(text_section(gettext("Description"), obj.description))
        if obj.comment:
            sections.append(text_section(gettext("Comment"), obj.comment))
        execution = links.to(
            "executions_workflowexecution", obj.execution_id, obj.execution.workflow
        )
        known = [
            (gettext("Execution"), execution),
            (gettext("Step"), links.to("runners_run", obj.pk, obj.step_path)),
            (gettext("Approvers"), ", ".join(obj.approvers) or ANYBODY),
            (gettext("Requested"), self.asked(obj)),
            (gettext("Expires"), self.expires(obj)),
            (gettext("Decided by"), obj.decided_by),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        return Page([mark_of(obj), str(obj)], facts(known), sections)


def mark_of(row: Approval) -> Any:
    """Return the badge of the decision, or of the run's state if there is no decision."""
    found = MARKS.get(row.decision)
    return marks.mark(*found) if found else marks.state(row.state)
