"""Tools that read failures: groups, dead letters, explanations of failures, and redrives."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from dlq.public.comparing import compare, last_good, suspects
from dlq.public.models import DeadLetterEntry, GroupStatus, Resolution
from executions.public.access import Action, obtain
from executions.public.models import Permission
from valkyr_plugins.mcp.in_process import ApiRefused
from valkyr_plugins.mcp.tools.base import (
    AgentTool,
    PagedArguments,
    ToolArguments,
    ToolCaller,
    WorkspaceArgument,
    listed,
    query_of,
)

SIMILAR = 5


class ListGroupsArguments(PagedArguments):
    """The filters of failure groups."""

    workspace_id: WorkspaceArgument = None
    workflow_id: UUID | None = None
    status: Annotated[
        Literal[tuple(GroupStatus.values)] | None,  # type: ignore[valid-type]
        Field(description="NEW and REGRESSED groups are those that nobody looked at."),
    ] = None
    text: Annotated[str | None, Field(description="A part of the failures' message.")] = None
    order: Annotated[
        Literal["lastSeen", "open", "total"], Field(description="The newest or largest first.")
    ] = "lastSeen"


class GroupArguments(ToolArguments):
    """The failure group to read."""

    group_id: UUID


class ListDeadLettersArguments(PagedArguments):
    """The filters of dead letters."""

    workspace_id: WorkspaceArgument = None
    group_id: UUID | None = None
    workflow_id: UUID | None = None
    execution_id: UUID | None = None
    resolution: Annotated[
        Literal[tuple(Resolution.values)] | None,  # type: ignore[valid-type]
        Field(description="PENDING dead letters are open."),
    ] = None
    text: Annotated[str | None, Field(description="A part of the failure's reason.")] = None


class ExplainFailureArguments(ToolArguments):
    """A dead letter, or a group to explain by its newest dead letter, preferably an open one."""

    dead_letter_id: UUID | None = None
    group_id: Annotated[
        UUID | None, Field(description="Explains the newest open dead letter of this group.")
    ] = None


class ListRedrivesArguments(PagedArguments):
    """The filters of redrives."""

    workspace_id: WorkspaceArgument = None
    group_id: UUID | None = None


class RedriveArguments(ToolArguments):
    """The redrive to read."""

    redrive_id: UUID


def _groups(caller: ToolCaller, given: ListGroupsArguments) -> Any:
    return listed(caller.api.get("failure-groups", query_of(given)))


def _group(caller: ToolCaller, given: GroupArguments) -> Any:
    return caller.api.get("failure-group", id=given.group_id).data


def _dead_letters(caller: ToolCaller, given: ListDeadLettersArguments) -> Any:
    return listed(caller.api.get("dead-letters", query_of(given)))


def _redrives(caller: ToolCaller, given: ListRedrivesArguments) -> Any:
    return listed(caller.api.get("redrives", query_of(given)))


def _redrive(caller: ToolCaller, given: RedriveArguments) -> Any:
    return caller.api.get("redrive", id=given.redrive_id).data


def _explain(caller: ToolCaller, given: ExplainFailureArguments) -> Any:
    api = caller.api
    entry_id = given.dead_letter_id or _newest(caller, given.group_id)
    letter = api.get("dead-letter", id=entry_id).data
    similar = {"groupId": letter["groupId"], "limit": SIMILAR}
    return {
        "deadLetter": letter,
        "run": _if_permitted(caller, "run", id=letter["runId"]),
        "group": api.get("failure-group", id=letter["groupId"]).data,
        "comparedWithLastSuccess": _compared(caller, entry_id),
        "newestOfGroup": [
            {name: row[name] for name in ("id", "executionId", "failureReason", "resolution")}
            for row in api.get("dead-letters", similar).data
        ],
        "source": _source(caller, letter),
    }


def _newest(caller: ToolCaller, group_id: UUID | None) -> UUID:
    if group_id is None:
        raise ApiRefused(422, {"detail": "Give deadLetterId or groupId."})
    query = {"groupId": group_id, "limit": 1}
    rows = caller.api.get("dead-letters", query | {"resolution": Resolution.PENDING}).data
    rows = rows or caller.api.get("dead-letters", query).data
    if not rows:
        raise ApiRefused(404, {"detail": f"The failure group {group_id} has no dead letters."})
    return UUID(rows[0]["id"])


def _if_permitted(caller: ToolCaller, route: str, **named: Any) -> Any:
    try:
        return caller.api.get(route, **named).data
    except ApiRefused as refusal:
        if refusal.status not in (403, 404):
            raise
        return None


def _compared(caller: ToolCaller, entry_id: UUID | str) -> Any:
    """Return how a dead letter differs from the last success; hidden without `view_payloads`."""
    rows = DeadLetterEntry.objects.all()
    entry, may = obtain(caller.api.user, rows, entry_id, Action.VIEW)
    if not may.allows(Permission.VIEW_PAYLOADS):
        return {"hidden": "You need the permission view_payloads."}
    search = last_good(entry)
    good = search.good
    changes = None
    if good is not None:
        before = {"version": good.version, "inputs": good.run.inputs, "config": good.config}
        after = {
            "version": entry.version_number,
            "inputs": entry.original_inputs,
            "config": entry.original_config,
        }
        changes = compare(before, after)
    marked = suspects(entry.original_inputs, entry.failure_reason, None, changes)
    return {
        "executionsSearched": search.looked,
        "lastSuccess": None
        if good is None
        else {
            "runId": str(good.run.pk),
            "executionId": str(good.run.execution_id),
            "version": good.version,
        },
        "differences": None
        if changes is None
        else [
            {"path": one.path, "kind": one.kind.value, "before": one.before, "after": one.after}
            for one in changes.changes
        ],
        "suspectedInputs": [{"path": one.where, "reason": one.reason.value} for one in marked],
    }


def _source(caller: ToolCaller, letter: dict[str, Any]) -> Any:
    """Return the failed task's source and version; None if the caller may not see them."""
    version = _if_permitted(
        caller, "workflow-version", id=letter["workflowId"], n=letter["version"]
    )
    if version is None:
        return None
    names = re.sub(r"\[\d+\]", "", letter["stepPath"]).split(".")
    return {
        "workflowId": letter["workflowId"],
        "version": letter["version"],
        "task": next(_tasks(version["source"], names), None),
    }


def _tasks(document: Any, names: list[str]) -> Iterator[Any]:
    """Yield the tasks that a step's path names, the innermost first."""
    tasks = document.get("tasks", []) if isinstance(document, dict) else []
    for task in tasks if isinstance(tasks, list) else []:
        if not isinstance(task, dict) or task.get("id") != names[0]:
            continue
        if len(names) > 1 and isinstance(task.get("body"), dict):
            yield from _tasks(task["body"], names[1:])
        yield task


TOOLS = (
    AgentTool(
        name="list_failure_groups",
        title="List failure groups",
        description=(
            "Lists groups of equal failures with their message, status and counts. Start here to "
            "find what fails. A group has the workflow, the step and the number of open dead "
            "letters."
        ),
        arguments=ListGroupsArguments,
        run=_groups,
        route="failure-groups",
        untrusted=True,
    ),
    AgentTool(
        name="get_failure_group",
        title="Read a failure group",
        description=(
            "Returns one failure group: hours with failures, affected versions, notes, and how "
            "its failures differ (workers, targets, versions, status codes)."
        ),
        arguments=GroupArguments,
        run=_group,
        route="failure-group",
        named=("id",),
        untrusted=True,
    ),
    AgentTool(
        name="list_dead_letters",
        title="List dead letters",
        description=(
            "Lists permanently failed steps, newest first, without their inputs. Filter by group, "
            "workflow, execution or resolution."
        ),
        arguments=ListDeadLettersArguments,
        run=_dead_letters,
        route="dead-letters",
        untrusted=True,
    ),
    AgentTool(
        name="explain_failure",
        title="Explain a failure",
        description=(
            "Returns all about one failure: the step's inputs and error, the differences from the "
            "last successful run of the step, the inputs that the error is probably about, its "
            "group, similar failures, and the failed task's source. Secrets are masked."
        ),
        arguments=ExplainFailureArguments,
        run=_explain,
        route="dead-letters",
        untrusted=True,
    ),
    AgentTool(
        name="list_redrives",
        title="List redrives",
        description="Lists redrives (bulk retries of dead letters) with their progress.",
        arguments=ListRedrivesArguments,
        run=_redrives,
        route="redrives",
    ),
    AgentTool(
        name="get_redrive",
        title="Read a redrive",
        description=(
            "Returns one redrive: its state, and how many entries succeeded, failed again or wait. "
            "Use it to follow a redrive after its proposal was approved."
        ),
        arguments=RedriveArguments,
        run=_redrive,
        route="redrive",
        named=("id",),
    ),
)
