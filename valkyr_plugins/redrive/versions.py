"""Which version entries would run with, and how its definition differs from the one that failed."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from executions.public.models import VersionKind, Workflow, WorkflowVersion
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.wish import LATEST, PINNED

MOST_CHANGES = 30


def target_of(redrive: Redrive, workflow_id: UUID) -> WorkflowVersion | None:
    """The version that the redrive names, of one workflow; None where it has no such one.

    Only for a redrive that is not pinned.
    """
    assert redrive.version != PINNED
    if redrive.version == LATEST:
        rows = Workflow.objects.select_related("latest_version").filter(pk=workflow_id)
        workflow = rows.first()
        return workflow.latest_version if workflow is not None else None
    return WorkflowVersion.objects.filter(
        workflow_id=workflow_id, number=int(redrive.version), kind=VersionKind.PUBLISHED
    ).first()


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """How two definitions differ, a sentence a task or setting; at most one more than is shown."""
    found = []
    for sentence in _changes(before, after):
        found.append(sentence)
        if len(found) > MOST_CHANGES:
            break
    return found


def _changes(before: Mapping[str, Any], after: Mapping[str, Any], where: str = "") -> Iterator[str]:
    old, new = (
        {task["id"]: task for task in version.get("tasks", [])} for version in (before, after)
    )
    for name in [*old, *(name for name in new if name not in old)]:
        path = f"{where}{name}"
        if name not in new:
            yield f"Task {path} is gone."
        elif name not in old:
            yield f"Task {path} is new."
        else:
            yield from _of_task(old[name], new[name], path)
    for key in sorted({*before, *after} - {"tasks", "ui"}):
        if before.get(key) != after.get(key):
            yield f"{where}{key} is different."


def _of_task(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[str]:
    bodies = [task.get("body") for task in (before, after)]
    keys = sorted(
        key for key in {*before, *after} - {"body", "ui"} if before.get(key) != after.get(key)
    )
    if keys:
        yield f"Task {path} differs in {', '.join(keys)}."
    if bodies[0] and bodies[1]:
        yield from _changes(bodies[0], bodies[1], f"{path}[].")
    elif bodies[0] != bodies[1]:
        yield f"Task {path} differs in body."
