"""Error workflows: a failed or timed-out execution starts the workflow that its version names.

The transaction that ends the execution also inserts the new, waiting execution, which is admitted
after the commit. If the error workflow is missing or rejects the start, the execution ends without
it.
"""

import logging
from typing import Any

from django.db import InterfaceError, OperationalError
from django.dispatch import receiver

from executions import payloads, ports
from executions.access.actor import Actor, record
from executions.database import transaction
from executions.definition.versions import compiled
from executions.errors import NotFound, PayloadError
from executions.events import execution_failed
from executions.models import Workflow, WorkflowExecution
from executions.states import ExecutionState
from executions.triggers.start import owe_execution
from executions.triggers.stored_input import MAX_PAYLOAD_BYTES

log = logging.getLogger(__name__)

ACTOR = Actor.system("error workflow")
MAX_MESSAGE = 10_000


@receiver(execution_failed)
def notify(sender: Any, execution: WorkflowExecution, **_: Any) -> None:
    """Start the error workflow of an execution that failed or timed out, if its version names one.

    Do nothing for a test run, for an execution of an error workflow, or for its children.
    """
    if execution.failure_of_id is not None:
        return
    version = compiled(execution.version_id)
    if not version.test and version.graph.on_failure is not None:
        _start(execution, version.graph.on_failure)


def described(failed: WorkflowExecution) -> dict[str, Any]:
    """Return an error workflow's payload: the failed execution, its input, error and failed step.

    If the payload would be too large, the input is omitted and `inputOmitted` is true.
    """
    where = ports.failed_step(failed.pk) or {}
    timed_out = failed.state == ExecutionState.TIMEOUT
    execution = {
        "id": str(failed.pk),
        "workflow": failed.workflow.slug,
        "version": compiled(failed.version_id).number,
        "state": failed.state,
        "startedAt": failed.started_at.isoformat() if failed.started_at else None,
        "finishedAt": failed.finished_at.isoformat() if failed.finished_at else None,
        "error": {
            "message": failed.error_message[:MAX_MESSAGE],
            "step": None if timed_out else where.get("step"),
            "type": "TIMEOUT" if timed_out else where.get("type", "PERMANENT"),
        },
        "input": payloads.trusted(failed.trigger_payload),
        "inputOmitted": False,
    }
    try:
        payloads.dump({"execution": execution}, "payload", MAX_PAYLOAD_BYTES)
    except PayloadError:
        execution |= {"input": None, "inputOmitted": True}
    return {"execution": execution}


def _start(failed: WorkflowExecution, slug: str) -> None:
    try:
        with transaction.atomic():
            started = _owe(failed, slug)
    except (OperationalError, InterfaceError):
        raise  # a database failure: the end of the execution is retried
    except Exception as error:
        log.warning("error workflow %r of execution %s not started: %s", slug, failed.pk, error)
        _note(failed, "execution.notify_refused", reason=str(error), details={"workflow": slug})
        return
    details = {"workflow": slug, "executionId": str(started.pk)}
    _note(failed, "execution.notify", reason="", details=details)


def _owe(failed: WorkflowExecution, slug: str) -> WorkflowExecution:
    workflow = Workflow.objects.filter(
        workspace_id=failed.workspace_id, slug=slug, archived_at=None
    ).first()
    if workflow is None:
        raise NotFound(
            f"There is no workflow {slug!r} in this workspace. Create and publish it, or remove "
            "settings.onFailure."
        )
    assert failed.finished_at is not None
    return owe_execution(
        workflow,
        described(failed),
        actor=ACTOR,
        failure_of=failed,
        key=f"failure:{failed.pk}:{failed.finished_at.isoformat()}",
        reason=f"Execution {failed.pk} ended {failed.state}.",
    )


def _note(failed: WorkflowExecution, action: str, *, reason: str, details: dict[str, Any]) -> None:
    record(
        ACTOR,
        action,
        workspace_id=failed.workspace_id,
        object_type="WorkflowExecution",
        object_id=failed.pk,
        reason=reason,
        details=details,
    )
