"""The last results of a workflow's tasks, for authors who want to see real values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.sealing.sealer import opened, opened_text
from runners import statements

MOST_CHARACTERS = 16_384
MOST_TASKS = 1_000
# Maximum number of an execution's runs that are read. If there are more, the results come from
# these runs.
MOST_RUNS = 100_000
_TURN = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A value; if too large to show, only its size in characters or a lower bound of the size."""

    value: Any
    size: int

    @property
    def too_large(self) -> bool:
        """Return whether the value is too large to be shown."""
        return self.size > MOST_CHARACTERS


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The newest run of a task; `path`, such as `refine.draft`, has no iteration numbers."""

    path: str
    run_id: UUID
    state: str
    outcome: str
    error: str
    error_type: str
    started_at: datetime | None
    ended_at: datetime | None
    attempts: int
    inputs: ShownResult
    outputs: ShownResult


def last_results(execution_id: UUID) -> Iterator[TaskResult]:
    """Yield the newest run of each task of an execution. Uses one query."""
    rows = statements.fetch(
        "last_results",
        {
            "execution": execution_id,
            "runs": MOST_RUNS,
            "tasks": MOST_TASKS,
            "most": MOST_CHARACTERS,
        },
    )
    for run_id, step_path, state, outcome, message, error_type, *rest in rows:
        started_at, ended_at, attempts, inputs_size, inputs, outputs_size, outputs = rest
        error = opened_text(execution_id, message, "error", step_path)
        inputs = opened(execution_id, inputs, "inputs", step_path)
        outputs = opened(execution_id, outputs, "outputs", step_path)
        yield TaskResult(
            path=task_path(step_path),
            run_id=run_id,
            state=state,
            outcome=outcome,
            error=error,
            error_type=error_type,
            started_at=started_at,
            ended_at=ended_at,
            attempts=attempts,
            inputs=ShownResult(inputs, inputs_size),
            outputs=ShownResult(outputs, outputs_size),
        )


def task_path(step_path: str) -> str:
    """Return the path of a step's task: `refine.draft` for `refine[2].draft.main`."""
    return _TURN.sub("", step_path).rpartition(".")[0]
