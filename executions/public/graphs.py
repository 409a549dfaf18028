"""Read the compiled graphs of versions, find steps by path, and decide which steps run."""

from executions.definition.graph.model import (
    Graph,
    Step,
)
from executions.definition.graph.places import (
    Place,
    find,
    place_of,
    split,
)
from executions.definition.graph.plan import (
    SKIPPED,
    Readiness,
    readiness,
    task_outcomes,
)
from executions.definition.versions import (
    Compiled,
    check_payload,
    compiled,
)

__all__ = [
    "SKIPPED",
    "Compiled",
    "Graph",
    "Place",
    "Readiness",
    "Step",
    "check_payload",
    "compiled",
    "find",
    "place_of",
    "readiness",
    "split",
    "task_outcomes",
]
