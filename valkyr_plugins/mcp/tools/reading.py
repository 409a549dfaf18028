"""Tools that read executions, workflows, modules and figures, and check definitions."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from executions.public.access import Action, require
from executions.public.models import ExecutionState
from executions.public.publishing import versioning
from valkyr_plugins.mcp.in_process import ApiRefused
from valkyr_plugins.mcp.tools.base import (
    AgentTool,
    NoArguments,
    PagedArguments,
    ToolArguments,
    ToolCaller,
    WorkspaceArgument,
    listed,
    query_of,
)

Definition = Annotated[dict[str, Any], Field(description="The definition as a JSON object.")]


class ListExecutionsArguments(PagedArguments):
    """The filters of executions."""

    workspace_id: WorkspaceArgument = None
    workflow_id: UUID | None = None
    state: Literal[tuple(ExecutionState.values)] | None = None  # type: ignore[valid-type]


class ExecutionArguments(ToolArguments):
    """The execution to read."""

    execution_id: UUID


class ListRunsArguments(PagedArguments):
    """The execution whose runs are listed."""

    execution_id: UUID


class RunArguments(ToolArguments):
    """The run to read: one attempt of one step."""

    run_id: UUID


class ListWorkflowsArguments(PagedArguments):
    """The filters of workflows."""

    workspace_id: WorkspaceArgument = None
    name: Annotated[str | None, Field(description="The beginning of the name.")] = None


class WorkflowArguments(ToolArguments):
    """The workflow to read, and the version; the draft by default."""

    workflow_id: UUID
    version: Annotated[
        int | None, Field(ge=1, description="A published version; without it, the draft.")
    ] = None


class FiguresArguments(ToolArguments):
    """The period, and the part of the installation that is counted."""

    range: Annotated[
        Literal["1h", "24h", "7d", "14d"] | None, Field(description="The period until now.")
    ] = None
    workspace_id: WorkspaceArgument = None
    workflow_id: UUID | None = None


class ModulesArguments(ToolArguments):
    """The module to read in full; if it is omitted, all modules are listed by name."""

    type: Annotated[
        str | None,
        Field(description="A module's type such as http.request: returns its input schema."),
    ] = None


class ValidateArguments(ToolArguments):
    """A definition to check."""

    definition: Definition
    workspace_id: WorkspaceArgument = None
    workflow_id: Annotated[UUID | None, Field(description="The workflow that it changes.")] = None


def _me(caller: ToolCaller, given: NoArguments) -> Any:
    found = caller.api.get("me").data
    return found | {
        "writes": "applied at once" if caller.unattended else "proposals, which a user approves"
    }


def _executions(caller: ToolCaller, given: ListExecutionsArguments) -> Any:
    return listed(caller.api.get("executions", query_of(given)))


def _execution(caller: ToolCaller, given: ExecutionArguments) -> Any:
    return caller.api.get("execution", id=given.execution_id).data


def _explained(caller: ToolCaller, given: ExecutionArguments) -> Any:
    return caller.api.get("execution-explain", id=given.execution_id).data


def _runs(caller: ToolCaller, given: ListRunsArguments) -> Any:
    return listed(caller.api.get("runs", query_of(given)))


def _run(caller: ToolCaller, given: RunArguments) -> Any:
    return caller.api.get("run", id=given.run_id).data


def _workflows(caller: ToolCaller, given: ListWorkflowsArguments) -> Any:
    return listed(caller.api.get("workflows", query_of(given)))


def _workflow(caller: ToolCaller, given: WorkflowArguments) -> Any:
    if given.version is None:
        found = caller.api.get("workflow", id=given.workflow_id)
        return found.data | {"revision": found.revision}
    return caller.api.get("workflow-version", id=given.workflow_id, n=given.version).data


def _figures(caller: ToolCaller, given: FiguresArguments) -> Any:
    return caller.api.get("figures", query_of(given)).data


def _modules(caller: ToolCaller, given: ModulesArguments) -> Any:
    found = caller.api.get("module-types").data
    if given.type is None:
        return [{name: one[name] for name in ("type", "title", "effect")} for one in found]
    for one in found:
        if one["type"] == given.type:
            return one
    raise ApiRefused(404, {"detail": f"There is no module {given.type!r}. List them without type."})


def workspace_of(caller: ToolCaller, workspace_id: UUID | None) -> UUID:
    """Return the given ID, or the ID of the caller's only workspace. Raises ApiRefused."""
    if workspace_id is not None:
        return workspace_id
    found = caller.api.get("workspaces", {"limit": 2}).data
    if len(found) != 1:
        raise ApiRefused(422, {"detail": "You have several workspaces or none. Give workspaceId."})
    return UUID(found[0]["id"])


def validated(caller: ToolCaller, given: ValidateArguments) -> dict[str, Any]:
    """Return the problems and warnings of a definition.

    Unlike the API's operation, this requires only the permission to view, because an agent that
    proposes a change may lack the permission to write. Nothing is stored.
    """
    if given.workflow_id is not None:
        workspace_id = UUID(caller.api.get("workflow", id=given.workflow_id).data["workspaceId"])
    else:
        workspace_id = workspace_of(caller, given.workspace_id)
        require(caller.api.user, workspace_id, Action.VIEW)
    problems = versioning.check(given.definition, workspace_id, given.workflow_id)
    warnings = versioning.warnings(given.definition)
    return {"valid": not problems, "problems": _told(problems), "warnings": _told(warnings)}


def _told(problems: Any) -> list[dict[str, str]]:
    return [{"path": one.path, "code": one.code, "message": one.message} for one in problems]


TOOLS = (
    AgentTool(
        name="who_am_i",
        title="Who am I",
        description=(
            "Returns the account, its workspaces and roles, the scopes of the token, and whether "
            "tools that write create proposals or act at once."
        ),
        arguments=NoArguments,
        run=_me,
        route="me",
    ),
    AgentTool(
        name="list_executions",
        title="List executions",
        description="Lists executions, newest first. Filter by workflow and state.",
        arguments=ListExecutionsArguments,
        run=_executions,
        route="executions",
        untrusted=True,
    ),
    AgentTool(
        name="get_execution",
        title="Read an execution",
        description="Returns one execution: state, payload, output, error and times.",
        arguments=ExecutionArguments,
        run=_execution,
        route="execution",
        named=("id",),
        untrusted=True,
    ),
    AgentTool(
        name="explain_execution",
        title="Explain why an execution does not continue",
        description=(
            "Says why an execution does not run or continue: it waits for a worker, a time, a "
            "person, a limit, a circuit, or a failed step. Includes each step that waits."
        ),
        arguments=ExecutionArguments,
        run=_explained,
        route="execution-explain",
        named=("id",),
        untrusted=True,
    ),
    AgentTool(
        name="list_runs",
        title="List the runs of an execution",
        description="Lists the attempts of an execution's steps, without inputs and outputs.",
        arguments=ListRunsArguments,
        run=_runs,
        route="runs",
        untrusted=True,
    ),
    AgentTool(
        name="get_run",
        title="Read a run",
        description="Returns one attempt of a step: inputs, outputs, error, logs and times.",
        arguments=RunArguments,
        run=_run,
        route="run",
        named=("id",),
        untrusted=True,
    ),
    AgentTool(
        name="list_workflows",
        title="List workflows",
        description="Lists workflows with the number of their latest version.",
        arguments=ListWorkflowsArguments,
        run=_workflows,
        route="workflows",
    ),
    AgentTool(
        name="get_workflow",
        title="Read a workflow",
        description=(
            "Returns a workflow with its draft definition, or one published version of it. Read it "
            "before you propose a change."
        ),
        arguments=WorkflowArguments,
        run=_workflow,
        route="workflow",
        named=("id",),
    ),
    AgentTool(
        name="get_figures",
        title="Read figures",
        description=(
            "Returns counts and durations for a period: executions, failure rate, dead letters, "
            "waiting steps by queue, open circuits."
        ),
        arguments=FiguresArguments,
        run=_figures,
        route="figures",
    ),
    AgentTool(
        name="list_modules",
        title="List modules",
        description=(
            "Lists the types of steps that definitions can use; with type, returns one with the "
            "JSON Schemas of its inputs and outputs."
        ),
        arguments=ModulesArguments,
        run=_modules,
        route="module-types",
    ),
    AgentTool(
        name="validate_definition",
        title="Validate a definition",
        description="Checks a definition and returns its problems and warnings. Stores nothing.",
        arguments=ValidateArguments,
        run=validated,
        route="workflows",
    ),
)
