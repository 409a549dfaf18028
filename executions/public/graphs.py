"""Read the compiled graphs of versions, find steps by path, and decide which steps run."""

from executions.definition.graph.model import (
    Graph,
    Step,
)
from executions.definition.graph.places import (
    Place,
    find,
    first_turn,
    place_of,
    split,
    undoes,
)
from executions.definition.graph.plan import (
    SKIPPED,
    Readiness,
    StepFact,
    StepStatus,
    plan,
    readiness,
    task_outcomes,
)
from executions.definition.versions import (
    Compiled,
    check_payload,
    compiled,
    compiled_from,
)

__all__ = [
    "SKIPPED",
    "Compiled",
    "Graph",
    "Place",
    "Readiness",
    "Step",
    "StepFact",
    "StepStatus",
    "check_payload",
    "compiled",
    "compiled_from",
    "find",
    "first_turn",
    "place_of",
    "plan",
    "readiness",
    "split",
    "task_outcomes",
    "undoes",
]
