"""Endpoints of proposals, and of workflows that agents can call as tools."""

from typing import Any, ClassVar
from uuid import UUID

# ruff: noqa: N815 - the names are the JSON's
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public import addresses
from executions.public.access import Action, Powers, obtain, visible
from executions.public.api import (
    Body,
    CamelCase,
    CamelCaseSerializer,
    Endpoint,
    Flag,
    Json,
    ListQuery,
    Payload,
    Text,
    narrowed,
    operation,
    page,
)
from executions.public.models import Workflow
from valkyr_plugins.mcp import exposing, proposals
from valkyr_plugins.mcp.in_process import ApiRefused, InProcessApi
from valkyr_plugins.mcp.models import Proposal, ProposalKind, ProposalState

TAG = "Proposal"


class NoPreview(APIException):
    """The API rejected an operation of the preview."""

    status_code = 409
    default_code = "no_preview"


class ProposalSummary(CamelCase, serializers.ModelSerializer[Proposal]):
    """A proposal in a list."""

    workspace_id = serializers.UUIDField()
    kind = serializers.ChoiceField(ProposalKind.choices)
    state = serializers.ChoiceField(ProposalState.choices)
    object_id = serializers.UUIDField(allow_null=True)
    unattended = serializers.BooleanField(
        help_text="Whether a token with the scope unattended applied it."
    )
    createdBy = serializers.CharField(source="created_by_name")
    createdVia = serializers.CharField(source="created_via")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="It cannot be approved later.")
    decidedBy = serializers.CharField(source="decided_by_name", allow_blank=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    decision_reason = serializers.CharField(allow_blank=True)

    class Meta:
        model = Proposal
        fields: ClassVar[list[str]] = [
            "id", "workspace_id", "kind", "title", "rationale", "object_type", "object_id", "state",
            "unattended", "createdBy", "createdVia", "created_at", "expires_at", "decidedBy",
            "decided_at", "decision_reason",
        ]  # fmt: skip


class ProposalShape(ProposalSummary):
    """A proposal in full."""

    # These fields may contain values of inputs.
    arguments = Payload()
    result = Json(allow_null=True, help_text="The result of the approval, such as `redriveId`.")
    url = serializers.SerializerMethodField(help_text="Its page in the admin.")

    class Meta(ProposalSummary.Meta):
        fields: ClassVar[list[str]] = [*ProposalSummary.Meta.fields, "arguments", "result", "url"]

    def get_url(self, proposal: Proposal) -> str:
        """Return the address of the proposal's page."""
        return addresses.public_page(addresses.page("valkyr_mcp_proposal", proposal.pk))


class ProposalQuery(ListQuery):
    """The filters of the list of proposals."""

    state = serializers.ChoiceField(ProposalState.choices, required=False)
    kind = serializers.ChoiceField(ProposalKind.choices, required=False)


class ProposalDecision(Body):
    """The reason for a decision."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class ProposalPreview(CamelCaseSerializer):
    """The result that the approval of a proposal would have now."""

    preview = Payload()


def in_process(endpoint: Endpoint) -> InProcessApi:
    """Return the API in this process, called as the caller of an endpoint."""
    auth = endpoint.request.auth
    token = auth if getattr(auth, "name", "") else None
    return InProcessApi(endpoint.user, token, endpoint.actor)


def shown(proposal: Proposal, may: Powers) -> Response:
    """Return one proposal in full."""
    return Response(ProposalShape(proposal, context={"may": may}).data)


def rows() -> QuerySet[Proposal]:
    """Return all proposals."""
    return Proposal.objects.all()


class Proposals(Endpoint):
    """The endpoint that lists proposals."""

    @operation("listProposals", TAG, {200: ProposalSummary(many=True)}, parameters=[ProposalQuery])
    def get(self, request: Request) -> Response:
        """List the proposals of your workspaces, newest first, without their arguments."""
        query = self.query(ProposalQuery)
        wanted = visible(self.user, rows().defer("arguments", "result"))
        found = narrowed(wanted, query, {"state": "state", "kind": "kind"})
        shown_page = page(request, found, query)
        return Response(
            ProposalSummary(shown_page.rows, many=True).data, headers=shown_page.headers
        )


class OneProposal(Endpoint):
    """The endpoint that returns one proposal."""

    @operation("getProposal", TAG, {200: ProposalShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one proposal, with the result of its approval."""
        return shown(*obtain(self.user, rows(), id, Action.VIEW))


class PreviewProposal(Endpoint):
    """The endpoint that previews a proposal."""

    @operation(
        "previewProposal",
        TAG,
        {200: ProposalPreview},
        request=ProposalDecision,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Preview your approval of a proposal; nothing is changed.

        Returns 409 if an operation is rejected, for example because the object has changed or
        because you may not make the change.
        """
        self.body(ProposalDecision)
        proposal, may = obtain(self.user, rows(), id, Action.VIEW)
        try:
            found: Any = proposals.preview(proposal, in_process(self))
        except ApiRefused as refusal:
            raise NoPreview(str(refusal)) from refusal
        return Response(ProposalPreview({"preview": found}, context={"may": may}).data)


class ApproveProposal(Endpoint):
    """The endpoint that approves a proposal."""

    @operation(
        "approveProposal",
        TAG,
        {200: ProposalShape},
        request=ProposalDecision,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Apply the change with your permissions, in one transaction.

        An API token needs the scope `unattended`, so that an agent cannot approve its own proposal.
        """
        reason = self.body(ProposalDecision)["reason"]
        _, may = obtain(self.user, rows(), id, Action.OPERATE)
        return shown(proposals.approve(id, in_process(self), reason=reason), may)


class RejectProposal(Endpoint):
    """The endpoint that rejects a proposal."""

    @operation(
        "rejectProposal",
        TAG,
        {200: ProposalShape},
        request=ProposalDecision,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Reject a proposal; nothing is changed."""
        reason = self.body(ProposalDecision)["reason"]
        _, may = obtain(self.user, rows(), id, Action.OPERATE)
        return shown(proposals.reject(id, actor=self.actor, reason=reason), may)


# Workflows as tools.


class NewWorkflowTool(Body):
    """How the tool starts executions."""

    direct = Flag(
        required=False,
        default=False,
        help_text="Whether a token with the scope trigger starts executions without an approval.",
    )
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class WorkflowToolShape(CamelCaseSerializer):
    """A workflow that is offered to agents."""

    workflow_id = serializers.UUIDField()
    direct = serializers.BooleanField()
    createdBy = serializers.CharField(source="created_by_name")
    created_at = serializers.DateTimeField()


class ExposeWorkflow(Endpoint):
    """The endpoint that offers a workflow as a tool, and stops offering it."""

    @operation(
        "exposeWorkflow",
        TAG,
        {200: WorkflowToolShape},
        request=NewWorkflowTool,
        errors=[403, 404],
    )
    def put(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Offer the workflow to agents as a tool of the MCP server."""
        given = self.body(NewWorkflowTool)
        self._require_author(id)
        tool = exposing.expose(id, direct=given["direct"], actor=self.actor, reason=given["reason"])
        tool.refresh_from_db()
        return Response(WorkflowToolShape(tool).data)

    @operation("hideWorkflow", TAG, {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Stop offering the workflow to agents."""
        self._require_author(id)
        exposing.hide(id, actor=self.actor)
        return Response(status=204)

    def _require_author(self, pk: UUID) -> None:
        """Raise NotFound or Forbidden for callers who may not write the workflow."""
        found = Workflow.objects.filter(archived_at=None).defer("definition")
        obtain(self.user, found, pk, Action.AUTHOR)
