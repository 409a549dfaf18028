"""The kinds of proposals: how each kind is checked, previewed and applied.

The user who approves is the caller of the operations that apply a proposal. So a proposal can do
only what this user may do, and the agent needs only the permission to see the object.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from dlq.public.comparing import compare
from dlq.public.models import FailureGroup
from executions.public.access import Action, Power
from executions.public.models import Permission, WorkflowExecution
from valkyr_plugins.mcp.in_process import ApiRefused, InProcessApi
from valkyr_plugins.mcp.models import ProposalKind

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProposedObject:
    """The object of a proposal: its workspace, its title, and the state that the agent saw."""

    workspace_id: UUID
    title: str
    object_type: str
    object_id: str | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of a proposal: the state that the agent saw, and the time of the proposal."""

    seen: str
    at: datetime

    def require(self, now: Any, what: str) -> None:
        """Raise ApiRefused if the state has changed since the proposal."""
        if self.seen and str(now) != self.seen:
            detail = (
                f"{what} is {now}; it was {self.seen} when this was proposed. Let the agent look "
                "again and make a new proposal."
            )
            raise ApiRefused(409, {"detail": detail, "code": "changed_since_proposed"})


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """One kind of proposal.

    `look` finds the object with the agent's permissions; `preview` shows what would happen, in a
    transaction that cannot write. `apply` makes the change and returns its result; if the state
    that the agent saw is recorded and has changed, `apply` rejects the change. All three can raise
    ApiRefused. `needs` returns the action or permission that the change requires.
    """

    look: Callable[[InProcessApi, Facts], ProposedObject]
    preview: Callable[[InProcessApi, Facts, Basis], Any]
    apply: Callable[[InProcessApi, Facts, Basis, str], Any]
    needs: Callable[[Facts], Power] = lambda given: Action.OPERATE


def _redrive_object(api: InProcessApi, given: Facts) -> ProposedObject:
    if given.get("groupId"):
        group = api.get("failure-group", id=given["groupId"]).data
        # Without the number of dead letters, which is counted with a delay. The preview has the
        # exact one.
        title = f"Redrive the open dead letters of the group “{group['message']}”"
        return _found(group, title, "FailureGroup")
    if given.get("ids"):
        letter = api.get("dead-letter", id=given["ids"][0]).data
        execution = api.get("execution", id=letter["executionId"]).data
        title = f"Redrive {len(given['ids']):,} selected dead letters"
        return _found(execution | {"id": given["ids"][0]}, title, "DeadLetterEntry")
    raise ApiRefused(422, {"detail": "Give groupId or ids."})


REDRIVE_FIELDS = (
    "ids", "overrides", "scope", "fromStep", "version", "ratePerSecond", "maxInFlight",
    "canary", "stopAbove", "stopWindow",
)  # fmt: skip


def _redrive_body(given: Facts, basis: Basis, reason: str) -> dict[str, Any]:
    """Return the body of a redrive; for a group, only with dead letters older than the proposal."""
    body = {name: given[name] for name in REDRIVE_FIELDS if given.get(name) is not None}
    if given.get("groupId"):
        before = basis.at.isoformat()
        body["filter"] = {"groupId": given["groupId"], "quarantinedBefore": before}
    return body | {"reason": reason[:2_000]}


def _preview_redrive(api: InProcessApi, given: Facts, basis: Basis) -> Any:
    return api.call("POST", "redrives-preview", _redrive_body(given, basis, "")).data


def _apply_redrive(api: InProcessApi, given: Facts, basis: Basis, reason: str) -> Any:
    made = api.call("POST", "redrives", _redrive_body(given, basis, reason)).data
    api.call("POST", "redrive-start", {"reason": reason[:2_000]}, id=made["id"])
    return {"redriveId": made["id"], "entries": made["total"]}


def _workflow_object(api: InProcessApi, given: Facts) -> ProposedObject:
    then = " and publish it" if given.get("publish") else ""
    if given.get("workflowId"):
        answer = api.get("workflow", id=given["workflowId"])
        _require_read(given.get("revision"), answer.revision)
        title = f"Change the draft of “{answer.data['name']}”{then}"
        return _found(answer.data, title, "Workflow", answer.etag)
    name = given["definition"].get("name")
    if not given.get("workspaceId"):
        raise ApiRefused(422, {"detail": "Give workflowId, or workspaceId for a new workflow."})
    title = f"Create the workflow “{name}”{then}"
    return ProposedObject(UUID(str(given["workspaceId"])), title[:300], "Workflow")


def _require_read(read: str | None, now: str) -> None:
    """Raise ApiRefused if the agent read another revision of the draft."""
    if read is not None and read != now:
        detail = f"The draft is at revision {now}; you read {read}. Read it again."
        raise ApiRefused(412, {"detail": detail, "code": "stale_revision"})


def _preview_workflow(api: InProcessApi, given: Facts, basis: Basis) -> Any:
    before: Any = {}
    if given.get("workflowId"):
        before = api.get("workflow", id=given["workflowId"]).data["definition"]
    changes = compare(before, given["definition"])
    return {
        "changes": [
            {"path": one.path, "kind": one.kind.value, "before": one.before, "after": one.after}
            for one in changes.changes
        ],
        "complete": changes.whole,
        "publish": bool(given.get("publish")),
    }


def _apply_workflow(api: InProcessApi, given: Facts, basis: Basis, reason: str) -> Any:
    body = {"definition": given["definition"]}
    if given.get("workflowId"):
        # The API rejects this if a user changed the draft after the agent read it.
        headers = {"If-Match": basis.seen} if basis.seen else {}
        named = {"id": given["workflowId"]}
        found = api.call("PATCH", "workflow", body, headers=headers, **named).data
    else:
        body["workspaceId"] = given["workspaceId"]
        found = api.call("POST", "workflows", body).data
    result = {"workflowId": found["id"]}
    if given.get("publish"):
        published = api.call("POST", "workflow-publish", {}, id=found["id"]).data
        result["version"] = published["version"]
    return result


def _resolution_object(api: InProcessApi, given: Facts) -> ProposedObject:
    letter = api.get("dead-letter", id=given["deadLetterId"]).data
    execution = api.get("execution", id=letter["executionId"]).data
    title = f"{given['action'].capitalize()} the dead letter of step “{letter['stepPath']}”"
    return _found(execution | {"id": letter["id"]}, title, "DeadLetterEntry")


def _preview_resolution(api: InProcessApi, given: Facts, basis: Basis) -> Any:
    letter = api.get("dead-letter", id=given["deadLetterId"]).data
    shown = ("stepPath", "failureReason", "resolution", "originalInputs")
    return {"action": given["action"], "now": {name: letter[name] for name in shown}}


def _resolution_needs(given: Facts) -> Power:
    if given["action"] == "discard":
        return Permission.DISCARD
    plain = given["action"] == "requeue" and not given.get("overrides")
    return Permission.REDRIVE if plain else Permission.REDRIVE_CHANGED


def _apply_resolution(api: InProcessApi, given: Facts, basis: Basis, reason: str) -> Any:
    action = given["action"]
    bodies: dict[str, Any] = {
        "requeue": given.get("overrides") or {},
        "fix": {"outputs": given.get("outputs"), "notes": reason},
        "skip": {"notes": reason},
        "discard": {"notes": reason},
    }
    if action == "fix" and given.get("outcome"):
        bodies["fix"]["outcome"] = given["outcome"]
    found = api.call("POST", f"dead-letter-{action}", bodies[action], id=given["deadLetterId"])
    return {"id": found.data["id"]}


def _group_object(api: InProcessApi, given: Facts) -> ProposedObject:
    group = api.get("failure-group", id=given["groupId"]).data
    words = [f"set its status to {given['status']}"] if given.get("status") else []
    words += ["add a note"] if given.get("note") else []
    if not words:
        raise ApiRefused(422, {"detail": "Give status or note."})
    title = f"Failure group “{group['message']}”: {' and '.join(words)}"
    return _found(group, title, "FailureGroup", group["status"])


def _preview_group(api: InProcessApi, given: Facts, basis: Basis) -> Any:
    group = api.get("failure-group", id=given["groupId"]).data
    basis.require(group["status"], "The failure group")
    shown = ("message", "status", "open", "total")
    return {
        "status": given.get("status"),
        "note": given.get("note"),
        "now": {name: group[name] for name in shown},
    }


def _apply_group(api: InProcessApi, given: Facts, basis: Basis, reason: str) -> Any:
    locked = FailureGroup.objects.select_for_update(no_key=True).filter(pk=given["groupId"])
    for status in locked.values_list("status", flat=True):
        basis.require(status, "The failure group")
    if given.get("status"):
        body = {"status": given["status"], "reason": reason[:2_000]}
        api.call("PATCH", "failure-group", body, id=given["groupId"])
    if given.get("note"):
        api.call("POST", "failure-group-notes", {"text": given["note"]}, id=given["groupId"])
    return {"groupId": str(given["groupId"])}


def _execution_object(api: InProcessApi, given: Facts) -> ProposedObject:
    execution = api.get("execution", id=given["executionId"]).data
    title = f"{given['action'].capitalize()} the execution {given['executionId']}"
    return _found(execution, title, "WorkflowExecution", execution["state"])


def _preview_execution(api: InProcessApi, given: Facts, basis: Basis) -> Any:
    execution = api.get("execution", id=given["executionId"]).data
    basis.require(execution["state"], "The execution")
    return {"action": given["action"], "now": {"state": execution["state"]}}


def _apply_execution(api: InProcessApi, given: Facts, basis: Basis, reason: str) -> Any:
    rows = WorkflowExecution.objects.select_for_update(no_key=True)
    for state in rows.filter(pk=given["executionId"]).values_list("state", flat=True):
        basis.require(state, "The execution")
    body = {"reason": reason[:2_000]}
    named = {"id": given["executionId"]}
    found = api.call("POST", f"execution-{given['action']}", body, **named).data
    return {"executionId": found["id"], "state": found["state"]}


def _start_object(api: InProcessApi, given: Facts) -> ProposedObject:
    workflow = api.get("workflow", id=given["workflowId"]).data
    title = f"Start an execution of “{workflow['name']}”"
    return _found(workflow, title, "Workflow", _version(workflow))


def _version(workflow: Facts) -> str:
    return f"version {workflow['latestVersion']}"


def _preview_start(api: InProcessApi, given: Facts, basis: Basis) -> Any:
    workflow = api.get("workflow", id=given["workflowId"]).data
    basis.require(_version(workflow), "The latest")
    return {"workflow": workflow["name"], "version": workflow["latestVersion"], **given}


def _apply_start(api: InProcessApi, given: Facts, basis: Basis, reason: str) -> Any:
    basis.require(_version(api.get("workflow", id=given["workflowId"]).data), "The latest")
    return start(api, given["workflowId"], given["input"])


def start(api: InProcessApi, workflow_id: Any, payload: Any) -> dict[str, Any]:
    """Start a workflow; return the execution's ID and state. Raises ApiRefused."""
    body = {"params": payload}
    found = api.call("POST", "workflow-execute", body, workflowId=workflow_id).data
    return {"executionId": found["id"], "state": found["state"]}


def _found(row: Mapping[str, Any], title: str, kind: str, seen: str = "") -> ProposedObject:
    return ProposedObject(UUID(row["workspaceId"]), title[:300], kind, row["id"], seen)


KINDS: dict[str, ProposedChange] = {
    ProposalKind.REDRIVE: ProposedChange(_redrive_object, _preview_redrive, _apply_redrive),
    ProposalKind.WORKFLOW: ProposedChange(
        _workflow_object, _preview_workflow, _apply_workflow, lambda given: Action.AUTHOR
    ),
    ProposalKind.RESOLUTION: ProposedChange(
        _resolution_object, _preview_resolution, _apply_resolution, _resolution_needs
    ),
    ProposalKind.GROUP: ProposedChange(_group_object, _preview_group, _apply_group),
    ProposalKind.EXECUTION: ProposedChange(_execution_object, _preview_execution, _apply_execution),
    ProposalKind.START: ProposedChange(
        _start_object, _preview_start, _apply_start, lambda given: Action.TRIGGER
    ),
}
