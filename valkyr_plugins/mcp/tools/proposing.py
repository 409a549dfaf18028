"""Tools that propose changes, and tools that follow proposals."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.exposing import exposed_to
from valkyr_plugins.mcp.in_process import ApiRefused
from valkyr_plugins.mcp.kinds import start
from valkyr_plugins.mcp.models import Proposal, ProposalKind, ProposalState
from valkyr_plugins.mcp.tools.base import (
    AgentTool,
    PagedArguments,
    ToolArguments,
    ToolCaller,
    WorkspaceArgument,
    listed,
    query_of,
)
from valkyr_plugins.mcp.tools.reading import Definition, ValidateArguments, validated

RATIONALE = "rationale"


class ProposedArguments(ToolArguments):
    """The argument that all tools for proposals have: the agent's reason."""

    rationale: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4_000,
            description="Why, for the person who approves it: the cause, and how you know.",
        ),
    ]


class RedriveProposal(ProposedArguments):
    """Dead letters to run again, with other inputs if the original inputs are wrong."""

    group_id: Annotated[
        UUID | None, Field(description="All open dead letters of a failure group.")
    ] = None
    ids: Annotated[
        list[UUID] | None, Field(max_length=1_000, description="Or these dead letters.")
    ] = None
    overrides: Annotated[
        dict[str, Any] | None,
        Field(description="A JSON merge patch (RFC 7396) of the failed step's inputs."),
    ] = None
    canary: Annotated[
        int | None,
        Field(ge=0, le=1_000, description="Runs this many first and waits for their results."),
    ] = 10
    stop_above: Annotated[
        float | None,
        Field(ge=0, le=100, description="Stops if a higher percentage fails again."),
    ] = 20
    stop_window: Annotated[int | None, Field(ge=1, le=1_000)] = None
    rate_per_second: Annotated[float | None, Field(gt=0, le=10_000)] = None


class WorkflowProposal(ProposedArguments):
    """A new draft of a workflow, or a new workflow."""

    definition: Definition
    workflow_id: Annotated[
        UUID | None, Field(description="The workflow to change; without it, a new one.")
    ] = None
    workspace_id: Annotated[UUID | None, Field(description="For a new workflow.")] = None
    revision: Annotated[
        str | None,
        Field(description="The revision that you read: refused if the draft has changed since."),
    ] = None
    publish: Annotated[bool, Field(description="Also publish a version of the draft.")] = False


class ResolutionProposal(ProposedArguments):
    """An action on one dead letter."""

    dead_letter_id: UUID
    action: Annotated[
        Literal["requeue", "fix", "skip", "discard"],
        Field(
            description="requeue: run the step again, with overrides; fix: record outputs as its "
            "result; skip: continue without it; discard: give it up."
        ),
    ]
    overrides: dict[str, Any] | None = None
    outputs: Annotated[Any, Field(description="With fix: the step's result.")] = None
    outcome: Annotated[str | None, Field(description="With fix, for a branching step.")] = None


class GroupProposal(ProposedArguments):
    """A new status of a failure group, a note on the group, or both."""

    group_id: UUID
    status: Literal["ACKNOWLEDGED", "RESOLVED", "IGNORED"] | None = None
    note: Annotated[str | None, Field(max_length=10_000)] = None


class ExecutionProposal(ProposedArguments):
    """The arguments of a proposal to cancel, pause or resume an execution."""

    execution_id: UUID
    action: Literal["cancel", "pause", "resume"]


class ListProposalsArguments(PagedArguments):
    """The filters of proposals."""

    workspace_id: WorkspaceArgument = None
    state: Literal[tuple(ProposalState.values)] | None = None  # type: ignore[valid-type]


class ProposalArguments(ToolArguments):
    """The proposal to read."""

    proposal_id: UUID


def _proposed(kind: ProposalKind) -> Any:
    """Return a tool's function, which proposes a change of this kind."""

    def run(caller: ToolCaller, given: ProposedArguments) -> Any:
        arguments = given.model_dump(by_alias=True, exclude_none=True, mode="json")
        rationale = arguments.pop(RATIONALE)
        return decided(caller, proposals.propose(caller.api, kind, arguments, rationale))

    return run


def _workflow(caller: ToolCaller, given: WorkflowProposal) -> Any:
    """Propose a definition. Raises ApiRefused if it cannot be published."""
    check = ValidateArguments(
        definition=given.definition,
        workflow_id=given.workflow_id,
        workspace_id=given.workspace_id,
    )
    found = validated(caller, check)
    if not found["valid"]:
        problem = {"detail": "The definition has problems.", "errors": found["problems"]}
        raise ApiRefused(422, problem)
    return _proposed(ProposalKind.WORKFLOW)(caller, given)


def decided(caller: ToolCaller, proposal: Proposal) -> dict[str, Any]:
    """Return a proposal's data; first approve the proposal if the caller's token allows that."""
    if caller.unattended:
        proposal = proposals.approve(proposal.pk, caller.api)
    found: dict[str, Any] = caller.api.get("proposal", id=proposal.pk).data
    if proposal.state == ProposalState.PENDING:
        found["next"] = (
            f"Nothing has changed. A user must approve it: {found['url']}. Follow it with "
            "get_proposal."
        )
    return found


def _list(caller: ToolCaller, given: ListProposalsArguments) -> Any:
    return listed(caller.api.get("proposals", query_of(given)))


def _get(caller: ToolCaller, given: ProposalArguments) -> Any:
    return caller.api.get("proposal", id=given.proposal_id).data


# Workflows as tools.


def start_workflow(caller: ToolCaller, name: str, payload: dict[str, Any]) -> Any:
    """Start the workflow that the tool names, or propose to start it. Raises ApiRefused."""
    found = next((one for one in exposed_to(caller.api.user) if one.name == name), None)
    if found is None:
        raise ApiRefused(404, {"detail": f"There is no tool {name[:100]!r}. List the tools."})
    if found.direct:
        return start(caller.api.writing(), found.workflow_id, payload)
    arguments = {"workflowId": str(found.workflow_id), "input": payload}
    rationale = f"The agent called the tool {name}."
    return decided(caller, proposals.propose(caller.api, ProposalKind.START, arguments, rationale))


ONLY_PROPOSES = " Changes nothing: it creates a proposal, which a user approves or rejects."

TOOLS = (
    AgentTool(
        name="propose_redrive",
        title="Propose a redrive",
        description=(
            "Proposes to run the open dead letters of a failure group again, with overrides if "
            "their inputs are wrong. Some run first, as canaries." + ONLY_PROPOSES
        ),
        arguments=RedriveProposal,
        run=_proposed(ProposalKind.REDRIVE),
        route="redrives",
        writes=True,
    ),
    AgentTool(
        name="propose_workflow_change",
        title="Propose a change of a workflow",
        description=(
            "Proposes a new draft of a workflow, or a new workflow. The definition must be valid. "
            "It is refused later if another user changes the draft meanwhile." + ONLY_PROPOSES
        ),
        arguments=WorkflowProposal,
        run=_workflow,
        route="workflows",
        writes=True,
    ),
    AgentTool(
        name="propose_resolution",
        title="Propose a resolution of a dead letter",
        description="Proposes to requeue, fix, skip or discard one dead letter." + ONLY_PROPOSES,
        arguments=ResolutionProposal,
        run=_proposed(ProposalKind.RESOLUTION),
        route="dead-letters",
        writes=True,
        destructive=True,
    ),
    AgentTool(
        name="propose_group_change",
        title="Propose a change of a failure group",
        description="Proposes a status of a failure group, or a note on it." + ONLY_PROPOSES,
        arguments=GroupProposal,
        run=_proposed(ProposalKind.GROUP),
        route="failure-groups",
        writes=True,
    ),
    AgentTool(
        name="propose_execution_action",
        title="Propose to cancel, pause or resume an execution",
        description="Proposes to cancel, pause or resume one execution." + ONLY_PROPOSES,
        arguments=ExecutionProposal,
        run=_proposed(ProposalKind.EXECUTION),
        route="executions",
        writes=True,
        destructive=True,
    ),
    AgentTool(
        name="list_proposals",
        title="List proposals",
        description="Lists proposals, newest first, with their state and who decided.",
        arguments=ListProposalsArguments,
        run=_list,
        route="proposals",
    ),
    AgentTool(
        name="get_proposal",
        title="Read a proposal",
        description=(
            "Returns one proposal: its state, the decision and its reason, and what approving it "
            "did, such as the redrive that it started."
        ),
        arguments=ProposalArguments,
        run=_get,
        route="proposal",
        named=("id",),
    ),
)
