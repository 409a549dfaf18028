"""Choose the version that new executions use: the latest or, for a share of them, a canary.

Each change holds the lock of the workflow's row, or is one statement that applies only while the
given version is the canary. So a change to a canary that has ended meanwhile has no effect.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from executions.access.actor import Actor, record
from executions.database import transaction
from executions.database.clock import ClockTimestamp
from executions.errors import NotFound, NotPublished, WrongState
from executions.events import canary_ended
from executions.models import Workflow, WorkflowVersion
from executions.states import VersionKind
from executions.triggers.sync import sync


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The withdrawn version, and the version that new executions use instead.

    `switched` is False if the withdrawn version was not in use before the call.
    """

    bad: WorkflowVersion
    good: WorkflowVersion
    switched: bool


def make_latest(workflow: Workflow, version: WorkflowVersion, actor: Actor) -> None:
    """Use the version for all new executions and activate its triggers; end the canary, if any.

    The caller holds the workflow's lock.
    """
    end_canary(workflow, actor, f"Version {version.number} was published.")
    workflow.latest_version = version
    workflow.save(update_fields=["latest_version"])
    sync(workflow, version)


def begin_canary(
    workflow: Workflow, version: WorkflowVersion, percent: float, actor: Actor
) -> None:
    """Use the version for a share of new executions; end an earlier canary.

    The caller holds the workflow's lock. Raises NotPublished if there is no latest version.
    """
    if workflow.latest_version_id is None:
        raise NotPublished(
            f"Workflow {workflow.name!r} has no published version that the other starts could take."
            " Publish it without a share first."
        )
    end_canary(workflow, actor, f"Version {version.number} was published as a canary.")
    workflow.canary_version, workflow.canary_percent = version, percent
    workflow.save(update_fields=["canary_version", "canary_percent"])


def set_share(workflow_id: UUID, version_id: UUID, percent: float) -> bool:
    """Change the share of a canary; return False if the version is no longer the canary."""
    rows = Workflow.objects.filter(pk=workflow_id, canary_version_id=version_id)
    return bool(rows.update(canary_percent=percent))


def withdraw(workflow_id: UUID, version_id: UUID) -> bool:
    """End a canary: no new execution uses it.

    Returns False if the version is no longer the canary. Call it in a transaction: the workflow's
    row remains locked.
    """
    rows = Workflow.objects.filter(pk=workflow_id, canary_version_id=version_id)
    if not rows.update(canary_version=None, canary_percent=None):
        return False
    WorkflowVersion.objects.filter(pk=version_id).update(withdrawn_at=ClockTimestamp())
    return True


def promote(workflow_id: UUID, version_id: UUID) -> bool:
    """Make a canary the latest version; return False if it is no longer the canary.

    Call it in a transaction: the workflow's row remains locked. Raises NotFound.
    """
    workflow = _locked(workflow_id)
    if workflow.canary_version_id != version_id:
        return False
    version = WorkflowVersion.objects.get(pk=version_id)
    workflow.canary_version = workflow.canary_percent = None
    workflow.latest_version = version
    workflow.save(update_fields=["canary_version", "canary_percent", "latest_version"])
    sync(workflow, version)
    return True


def end_canary(workflow: Workflow, actor: Actor, reason: str) -> None:
    """End the canary of a locked workflow, if any, because of another change."""
    version_id = workflow.canary_version_id
    if version_id is None or not withdraw(workflow.pk, version_id):
        return
    workflow.canary_version = workflow.canary_percent = None
    canary_ended.send(
        Workflow, workflow_id=workflow.pk, version_id=version_id, actor=actor, reason=reason
    )


def roll_back(
    workflow_id: UUID, *, actor: Actor, number: int | None = None, reason: str = ""
) -> RolledBack:
    """Withdraw the version `number`; by default, the canary, or else the latest version.

    If this is the latest version, an earlier version replaces it. Any canary ends. The draft and
    the executions do not change. Raises NotFound, NotPublished, and WrongState for a workflow from
    code, a version neither in use nor withdrawn, or a latest version that no earlier version can
    replace.
    """
    with transaction.atomic():
        workflow = _locked(workflow_id)
        _refuse_code(workflow)
        bad = _bad(workflow, number)
        done = _withdrawn(workflow, bad, actor, reason)
        record(
            actor,
            "workflow.rollback",
            workspace_id=workflow.workspace_id,
            object_type="Workflow",
            object_id=workflow.pk,
            reason=reason,
            details={
                "version": bad.number,
                "goodVersion": done.good.number,
                "switched": done.switched,
            },
        )
    return done


def _withdrawn(workflow: Workflow, bad: WorkflowVersion, actor: Actor, reason: str) -> RolledBack:
    was_canary = bad.pk == workflow.canary_version_id
    end_canary(workflow, actor, reason or f"Version {bad.number} was rolled back.")
    latest_id = workflow.latest_version_id
    assert latest_id is not None, "`_bad` requires it"
    if bad.pk != latest_id:
        good = WorkflowVersion.objects.get(pk=latest_id)
        return RolledBack(bad, good, switched=was_canary)
    earlier = _published(workflow).filter(number__lt=bad.number, withdrawn_at=None)
    found = earlier.order_by("-number").first()
    if found is None:
        raise WrongState(
            f"Version {bad.number} is the first version of {workflow.name!r}, so there is none to "
            "go back to. Publish a fixed version, or disable the workflow.",
            "FIRST_VERSION",
        )
    WorkflowVersion.objects.filter(pk=bad.pk).update(withdrawn_at=ClockTimestamp())
    workflow.latest_version = found
    workflow.save(update_fields=["latest_version"])
    sync(workflow, found)
    return RolledBack(bad, found, switched=True)


def _bad(workflow: Workflow, number: int | None) -> WorkflowVersion:
    canary_id, latest_id = workflow.canary_version_id, workflow.latest_version_id
    if latest_id is None:
        raise NotPublished(f"Workflow {workflow.name!r} has no published version to roll back.")
    if number is None:
        return WorkflowVersion.objects.get(pk=canary_id or latest_id)
    found = _published(workflow).filter(number=number).first()
    if found is None:
        raise NotFound(f"Workflow {workflow.name!r} has no published version {number}.")
    if found.pk not in (canary_id, latest_id) and found.withdrawn_at is None:
        raise WrongState(
            f"Starts of {workflow.name!r} do not take version {number}: only its latest version "
            "and its canary can be rolled back.",
            "NOT_LATEST",
        )
    return found


def _published(workflow: Workflow) -> QuerySet[WorkflowVersion]:
    return WorkflowVersion.objects.filter(workflow=workflow, kind=VersionKind.PUBLISHED)


def _refuse_code(workflow: Workflow) -> None:
    if workflow.origin:
        raise WrongState(
            f"Workflow {workflow.name!r} comes from {workflow.origin_place}, which would publish "
            "its version again. Roll back the deployment of that code.",
            "FROM_CODE",
        )


def _locked(workflow_id: UUID) -> Workflow:
    rows = Workflow.objects.select_for_update(no_key=True).filter(pk=workflow_id, archived_at=None)
    workflow = rows.first()
    if workflow is None:
        raise NotFound(f"There is no workflow {workflow_id}.")
    return workflow
