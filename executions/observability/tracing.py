"""The trace of an execution, and the log line of its start.

Every execution has a trace ID, whether spans are recorded or not, so that logs and pages can name
it. An execution started by a request joins the request's trace; a child has its own trace, because
a workflow with a large fan-out would make a trace that no viewer can show.
"""

import logging
import secrets
from collections.abc import Sequence

from executions.events import executions_started
from executions.models import Workflow, WorkflowExecution
from executions.observability import log_context, trace_context

log = logging.getLogger(__name__)


def new_trace(*, own: bool) -> str:
    """Return the request's trace ID, or a new one if `own` is set or there is no request."""
    request = trace_context.incoming.get()
    return secrets.token_hex(16) if own or request is None else request.trace_id


def started(executions: Sequence[WorkflowExecution], workflow: Workflow, number: int) -> None:
    """Log inserted executions of version `number`, and send their signal.

    Call it in the transaction that inserts them.
    """
    if log.isEnabledFor(logging.INFO):
        for execution in executions:
            with log_context.bound(execution_id=execution.pk, trace_id=execution.trace_id):
                log.info("execution %s of %s started", execution.pk, workflow.slug)
    executions_started.send(
        WorkflowExecution, executions=executions, workflow=workflow, number=number
    )
