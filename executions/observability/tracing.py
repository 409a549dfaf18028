"""Which trace an execution belongs to, and the line that says it started.

Every execution has a trace id, whether spans are made or not, so that logs and pages can name it.
One that a request starts joins the request's trace; a child has a trace of its own, or one workflow
that fans out would make a trace that no viewer can show.
"""

import logging
import secrets
from collections.abc import Sequence

from executions.events import executions_started
from executions.models import Workflow, WorkflowExecution
from executions.observability import log_context, trace_context

log = logging.getLogger(__name__)


def new_trace(*, own: bool) -> str:
    """The trace id of an execution to be: the request's, or one of its `own`."""
    request = trace_context.incoming.get()
    return secrets.token_hex(16) if own or request is None else request.trace_id


def started(executions: Sequence[WorkflowExecution], workflow: Workflow, number: int) -> None:
    """Executions of version `number` were inserted in the open transaction."""
    if log.isEnabledFor(logging.INFO):
        for execution in executions:
            with log_context.bound(execution_id=execution.pk, trace_id=execution.trace_id):
                log.info("execution %s of %s started", execution.pk, workflow.slug)
    executions_started.send(
        WorkflowExecution, executions=executions, workflow=workflow, number=number
    )
