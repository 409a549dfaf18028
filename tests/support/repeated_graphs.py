"""Real graphs as bodies, on real workers, with failures and their expected results."""

from random import Random
from typing import Any
from uuid import UUID

from executions.models import WorkflowExecution
from tests.support.auditor import audit
from tests.support.graphs import Drawn
from tests.support.interpreter import agrees
from tests.support.workflows import publish, start, wait_for_end


def failing_here_and_there(rng: Random, counter: str) -> dict[str, Any]:
    """Return the keys of effects, some of which fail once or twice in some places."""

    def fails(number: int) -> dict[str, Any]:
        times = [rng.choice([0] * 12 + [1, 2]) for _ in range(3)]
        return {"failTimes": f"{{{{ {times}[{counter} % 3] }}}}"}

    return {
        "use": "test.effect",
        "with": fails,
        "retry": lambda number: {"maxAttempts": 3, "baseSeconds": 0.1},
        "queue": lambda number: rng.choice(["default", "default", "io"]),
    }


def run_to_its_end(document: dict[str, Any]) -> None:
    """Run the workflow to its end; check state, order and results against the interpreter's."""
    workflow = publish(document)
    execution: UUID = start(workflow)
    assert wait_for_end([execution], 100)[execution] == "SUCCESS"
    audit([execution])
    made = WorkflowExecution.objects.select_related("version").get(pk=execution)
    assert agrees(Drawn(made.version.definition).story().outputs["again.main"], made.output)
