"""Insert the new executions of a request with a prepared statement, up to 500 rows at a time."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from executions import payloads
from executions.database import statements
from executions.models import WorkflowExecution
from executions.sealing.sealer import PayloadSealer
from executions.states import ExecutionState

# Maximum rows of one statement. With payloads of the maximum size, its parameter has half the size
# that PostgreSQL allows for a value.
TOGETHER = 500


def insert(
    executions: Sequence[WorkflowExecution],
    texts: Sequence[str],
    *more: statements.BoundStatement,
    last: bool = False,
    key: int | None,
) -> None:
    """Insert executions that differ only in ID, payload, concurrency key, trace, labels and state.

    Sets their times. `texts` are their payloads as canonical JSON; the payload key `key`, if any,
    seals them. `more` are statements to run after the inserts in the same round trip; `last` is
    passed to `run_together`. Raises IntegrityError for a used idempotency key.
    """
    starts = range(0, len(executions), TOGETHER)
    parts = [slice(start, start + TOGETHER) for start in starts]
    inserted = statements.run_together(
        [*(_inserting(executions[part], texts[part], key) for part in parts), *more], last=last
    )
    for part, [(now,)] in zip(parts, inserted[: len(parts)], strict=True):
        _note_times(executions[part], now)


def _inserting(
    executions: Sequence[WorkflowExecution], texts: Sequence[str], key: int | None
) -> statements.BoundStatement:
    parts = [_row(execution, text, key) for execution, text in zip(executions, texts, strict=True)]
    labelled = any(execution.labels for execution in executions)
    return statements.asked(
        "start_labelled" if labelled else "start",
        _shared(executions[0], sealed=key is not None) | {"rows": f"[{','.join(parts)}]"},
    )


def _note_times(executions: Sequence[WorkflowExecution], now: datetime) -> None:
    for execution in executions:
        execution._state.adding = False
        execution.created_at = now
        if execution.state == ExecutionState.RUNNING:
            execution.started_at = now
            if execution.timeout_seconds:
                execution.deadline_at = now + timedelta(seconds=execution.timeout_seconds)


def _row(execution: WorkflowExecution, text: str, sealing_key: int | None) -> str:
    key = json.dumps(execution.concurrency_key)
    sealed = ""
    if sealing_key is not None:
        sealer = PayloadSealer(execution.pk, execution.workspace_id, sealing_key)
        variables = payloads.dump(execution.context_data, "variables")
        text = sealer.json(text, "trigger_payload")
        sealed = f'"variables":{sealer.each(variables, "context_data")},'
    labels = f'"labels":{json.dumps(execution.labels)},' if execution.labels else ""
    runs = "true" if execution.state == ExecutionState.RUNNING else "false"
    return (
        f'{{"id":"{execution.pk}","runs":{runs},"key":{key},"trace":"{execution.trace_id}",'
        f'{labels}{sealed}"payload":{text}}}'
    )


def _shared(one: WorkflowExecution, *, sealed: bool) -> dict[str, Any]:
    return {
        "workspace": one.workspace_id,
        "workflow": one.workflow_id,
        "version": one.version_id,
        "trigger": one.trigger_id,
        "trigger_type": one.trigger_type,
        "place": one.place,
        "principal": one.principal_id,
        "parent": one.parent_id,
        "parent_run": one.parent_run_id,
        "depth": one.depth,
        "failure_of": one.failure_of_id,
        "origin": one.origin_id,
        "origin_point": one.origin_point,
        "canary": one.canary,
        "priority": one.priority,
        "idempotency_key": one.idempotency_key,
        "request_hash": one.request_hash,
        "key_limit": one.concurrency_limit,
        "variables": None if sealed else payloads.dump(one.context_data, "variables"),
        "timeout": one.timeout_seconds,
    }
