"""What some executions' rows say, as text: the message of an assertion that failed."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.models import WorkflowExecution
from runners.models import Run

MOST_RUNS = 100
LONGEST = 100


def table(ids: Sequence[UUID]) -> str:
    """The executions with their runs in the order in which they were made, one a line."""
    parts = []
    for execution in WorkflowExecution.objects.filter(pk__in=ids).order_by("pk"):
        title = f"{execution.workflow.name} is {execution.state}"
        parts.append(f"{title}: {execution.error_message}" if execution.error_message else title)
        parts += _lines(execution)
    return "\n".join(parts)


def _lines(execution: WorkflowExecution) -> list[str]:
    found = list(execution.runs.filter(superseded=False).order_by("id"))
    rows = [_row(run) for run in found[:MOST_RUNS]]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    lines = [
        "  "
        + "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[4]]).rstrip()
        for row in rows
    ]
    return [*lines, f"  … and {len(found) - MOST_RUNS} more"] if len(found) > MOST_RUNS else lines


def _row(run: Run) -> tuple[str, str, str, str, str]:
    """Path and attempt, module, state, outcome or what it waits for, what came of it."""
    state = str(run.state)
    how = run.waits_for if state == "WAITING" else run.outcome
    return f"{run.step_path} #{run.attempt}", run.module, state, how, _came(run)


def _came(run: Run) -> str:
    if run.error:
        return _short(f"{run.error_type}: {run.error}")
    if run.retry_after is not None and run.state == "PENDING":
        return f"tried again at {run.retry_after:%H:%M:%S}"
    return "" if run.outputs is None else _short(run.outputs)


def _short(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else repr(value)).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
