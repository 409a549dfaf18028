"""Admin pages of proposals: a list, and a page with a preview to approve or reject."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from dlq.public.dashboard import HomeProblem, HomeSection, add_section
from executions.public.access import Action, Actor, Operation
from executions.public.admin import (
    AdminOperation,
    FactAdmin,
    OperatingAdmin,
    Page,
    PageSection,
    ReasonForm,
    TabFilter,
    WorkflowAdmin,
    as_json,
    done_to,
    facts,
    hidden_section,
    links,
    marks,
    masked,
    may,
    scoped,
    user_of,
)
from executions.public.admin_skin import display
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.mcp import exposing, proposals
from valkyr_plugins.mcp.in_process import ApiRefused, InProcessApi
from valkyr_plugins.mcp.models import Proposal, ProposalKind, ProposalState, WorkflowTool

MARKS: dict[str, tuple[str, str]] = {
    "PENDING": ("pending", "amber"),
    "APPROVED": ("check_circle", "green"),
    "REJECTED": ("cancel", "red"),
    "EXPIRED": ("timer_off", "grey"),
}
# For each type of a proposal's object: its admin page.
PAGES = {
    "FailureGroup": "dlq_failuregroup",
    "DeadLetterEntry": "dlq_deadletterentry",
    "Workflow": "executions_workflow",
    "WorkflowExecution": "executions_workflowexecution",
}


def _as(actor: Actor) -> InProcessApi:
    return InProcessApi(user_of(actor), None, actor)


def _approve(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Proposal:
    return proposals.approve(pk, _as(actor), reason=data["reason"])


def _refuse(row: Proposal) -> str:
    if row.state == ProposalState.PENDING:
        return ""
    return gettext("Not available: this proposal is {label}.").format(
        label=ProposalState(row.state).label
    )


APPROVE = AdminOperation(
    Operation(name="approve", apply=_approve, needs=Action.OPERATE, refuse=_refuse),
    title=lazy("Approve…"),
    icon="check",
    done=lazy("approved and applied"),
    question=lazy(
        "Applies the change with your permissions. Review the preview and the arguments first: "
        "an agent proposed the change, and data that the agent read may have misled it."
    ),
    primary=True,
    bulk=False,
)
REJECT = AdminOperation(
    Operation(
        name="reject",
        apply=lambda pk, actor, data: proposals.reject(pk, actor=actor, reason=data["reason"]),
        needs=Action.OPERATE,
        refuse=_refuse,
    ),
    title=lazy("Reject…"),
    icon="close",
    done=lazy("rejected"),
    question=lazy("Nothing changes. The agent can read your reason."),
    danger=True,
)


class ProposalStateFilter(TabFilter):
    """Filters proposals by state."""

    title = lazy("state")
    parameter_name = field = "state"
    groups = {
        "waiting": ("PENDING",),
        "approved": ("APPROVED",),
        "rejected": ("REJECTED",),
        "expired": ("EXPIRED",),
    }


@admin.register(Proposal)
class ProposalAdmin(OperatingAdmin, FactAdmin):
    """The proposals of agents."""

    operations = (APPROVE, REJECT)
    list_display = ("what", "mark", "kind_name", "why", "who", "created", "decided")
    list_display_links = ("what",)
    list_filter = (ProposalStateFilter,)
    list_defer = ("arguments", "result")
    ordering = ("-created_at", "-id")
    empty_text = lazy("No proposals. Agents create them with the tools of the MCP server.")
    search_ids = ("id", "object_id")
    search_texts = ("title", "rationale", "created_by_name")

    @display(description=lazy("change"))
    def what(self, row: Proposal) -> str:
        """Return the proposed change as a sentence."""
        return marks.clipped(row.title, 90)

    @display(description=lazy("state"))
    def mark(self, row: Proposal) -> Any:
        """Return the badge of the proposal's state."""
        icon, colour = MARKS[row.state]
        return marks.mark(str(ProposalState(row.state).label), icon, colour)

    @display(description=lazy("kind"))
    def kind_name(self, row: Proposal) -> str:
        """Return the kind of the change."""
        return str(ProposalKind(row.kind).label)

    @display(description=lazy("reason"))
    def why(self, row: Proposal) -> str:
        """Return the agent's reason."""
        return marks.clipped(row.rationale, 60) or marks.EMPTY

    @display(description=lazy("proposed by"))
    def who(self, row: Proposal) -> str:
        """Return the names of the account and of the token that proposed the change."""
        return f"{row.created_by_name}, {row.created_via}"

    @display(description=lazy("created"))
    def created(self, row: Proposal) -> Any:
        """Return how long ago the proposal was created."""
        return marks.ago(row.created_at)

    @display(description=lazy("decided by"))
    def decided(self, row: Proposal) -> str:
        """Return the name of the user who decided; a dash if nobody has."""
        return row.decided_by_name or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a proposal: its reason, its preview or result, and its arguments."""
        payloads = may(request, obj, Permission.VIEW_PAYLOADS)
        sections = [PageSection(gettext("Reason"), body=obj.rationale)]
        if obj.state == ProposalState.PENDING:
            sections.append(_preview(request, obj, shown=payloads))
        if obj.result is not None:
            sections.append(PageSection(gettext("Result"), body=as_json(obj.result)))
        sections.append(
            PageSection(gettext("Arguments"), body=as_json(masked(obj.arguments)))
            if payloads
            else hidden_section(gettext("Arguments"), folded=False)
        )
        return Page([self.mark(obj), _lead(obj)], facts(_facts(obj)), [*sections, done_to(obj.pk)])


def _lead(obj: Proposal) -> str:
    if obj.state != ProposalState.PENDING:
        return ""
    return gettext(
        "Nothing has changed yet. Review the preview, then approve or reject the proposal."
    )


def _preview(request: HttpRequest, obj: Proposal, *, shown: bool) -> PageSection:
    """Return a section that shows what an approval by the user who views the page would do."""
    title = gettext("Preview")
    if not shown:
        return hidden_section(title, folded=False)
    actor = Actor.of_request(request)
    try:
        found = proposals.preview(obj, InProcessApi(request.user, None, actor))
    except ApiRefused as refusal:
        text = gettext("The change cannot be applied now: {reason}").format(reason=refusal)
        return PageSection(title, body=text, error=True)
    rows = [[name, _cell(value)] for name, value in found.items() if value not in (None, [], "")]
    return PageSection(title, headers=(gettext("Field"), gettext("Value")), rows=rows)


def _cell(value: Any) -> Any:
    if isinstance(value, dict | list):
        return as_json(masked(value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _facts(obj: Proposal) -> list[tuple[str, Any]]:
    page = PAGES.get(obj.object_type)
    about = page and obj.object_id and links.to(page, obj.object_id, obj.object_type)
    return [
        (gettext("Object"), about or ""),
        (gettext("Kind"), str(ProposalKind(obj.kind).label)),
        (gettext("Proposed by"), f"{obj.created_by_name}, {obj.created_via}"),
        (gettext("Created"), marks.ago(obj.created_at)),
        (gettext("Expires"), marks.ago(obj.expires_at) if not obj.decided_at else ""),
        (gettext("Decided by"), obj.decided_by_name),
        (gettext("Decided"), marks.ago(obj.decided_at)),
        (gettext("Reason"), obj.decision_reason),
        (gettext("Unattended"), gettext("yes") if obj.unattended else ""),
        (gettext("ID"), marks.copyable(obj.pk)),
    ]


# The home page's open proposals.


MOST_ON_HOME = 10


def _open(request: HttpRequest) -> list[Any]:
    rows = scoped(request, Proposal.objects.filter(state=ProposalState.PENDING))
    wanted = rows.order_by("-created_at", "-id")[:MOST_ON_HOME]
    return list(wanted.values_list("pk", "title", "created_by_name", "created_at"))


def _rows(found: list[Any]) -> list[list[Any]]:
    return [
        [links.to("valkyr_mcp_proposal", pk, marks.clipped(title, 80)), who, marks.ago(created)]
        for pk, title, who, created in found
    ]


def _problem(number: int) -> HomeProblem:
    text = ngettext(
        "{number} proposal from an agent is waiting for approval",
        "{number} proposals from agents are waiting for approval",
        number,
    )
    shown = f"{number}+" if number == MOST_ON_HOME else f"{number}"
    address = links.listing("valkyr_mcp_proposal", state="waiting")
    return HomeProblem(text.format(number=shown), "smart_toy", address)


add_section(
    HomeSection(
        name="proposals",
        title=lazy("Proposals from agents"),
        headers=(lazy("Proposal"), lazy("Proposed by"), lazy("Created")),
        gather=_open,
        rows=_rows,
        problem=_problem,
    )
)


# Expose workflows as tools.


class ExposeForm(ReasonForm):
    """Asks whether agents may start the workflow without an approval."""

    direct = forms.BooleanField(
        required=False,
        label=lazy("Start without approval"),
        help_text=lazy(
            "With this option, agents whose token has the scope “trigger” start executions "
            "immediately, and other agents cannot start them. Without this option, each call "
            "creates a proposal."
        ),
    )
    field_order = ("direct", "reason")


def _expose(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowTool:
    return exposing.expose(pk, direct=data["direct"], actor=actor, reason=data["reason"])


def _hide(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    exposing.hide(pk, actor=actor, reason=data["reason"])


def _refuse_unpublished(row: Any) -> str:
    if row.latest_version_id is not None:
        return ""
    return gettext("Not available: publish the workflow first.")


def _refuse_hidden(row: Any) -> str:
    if exposing.is_exposed(row.pk):
        return ""
    return gettext("Not available: this workflow is not exposed to agents.")


WorkflowAdmin.offer(
    AdminOperation(
        Operation(name="expose", apply=_expose, needs=Action.AUTHOR, refuse=_refuse_unpublished),
        title=lazy("Expose to agents…"),
        icon="smart_toy",
        done=lazy("exposed to agents"),
        question=lazy(
            "Offers the latest version as a tool of the MCP server, with its input schema and "
            "description."
        ),
        form=ExposeForm,
        bulk=False,
    ),
    AdminOperation(
        Operation(name="hide", apply=_hide, needs=Action.AUTHOR, refuse=_refuse_hidden),
        title=lazy("Hide from agents…"),
        icon="visibility_off",
        done=lazy("hidden from agents"),
        question=lazy("The MCP server no longer offers this workflow as a tool."),
        bulk=False,
    ),
)
