"""A published definition, compiled: tasks, steps and edges by index, ready for planning.

Immutable and free of I/O; workers cache one Graph a version. Indexes are positions in
`Graph.tasks` and `Graph.steps`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.templates import Template


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a step is tried and how long to wait in between; times in seconds."""

    name: str
    max_attempts: int
    base_seconds: float
    max_seconds: float | None  # cap of one delay, applied after the jitter
    jitter_add: tuple[float, float]  # seconds added, uniform; (0, 0) for none
    jitter_ratio: float  # plus or minus this share of the delay, e.g. 0.1; 0 for none


@dataclass(frozen=True, slots=True)
class Edge:
    """From one task to another, taken when the source's outcome is `on`."""

    source: int
    target: int
    on: str


@dataclass(frozen=True, slots=True)
class Step:
    """One module of one task, with everything needed to run it."""

    index: int
    path: str  # "charge.pay"; "fetch.main"
    task: int  # index into Graph.tasks
    task_uuid: UUID
    module_uuid: UUID
    module: str  # module type
    config: Template  # compiled `with`
    config_hash: str  # SHA-256, lower-case hex, of the module type and canonical `with`
    previous: int | None  # step indexes in the same task's chain
    following: int | None
    queue: str
    inline: bool
    effect: str
    writes_variables: bool
    timeout_seconds: float
    retry: RetryPolicy
    reads: frozenset[int]  # tasks whose output, outcome or error the templates refer to
    reads_previous: bool
    reads_input: bool
    reads_vars: bool
    outcomes: tuple[str, ...]  # empty for a plain module, whose outcome is "success"


@dataclass(frozen=True, slots=True)
class Task:
    """A chain of steps with the edges into and out of it."""

    index: int
    id: str
    name: str
    uuid: UUID
    steps: tuple[int, ...]
    join: str  # "any" | "all"
    incoming: tuple[Edge, ...]
    outgoing: tuple[Edge, ...]
    handles_error: bool  # an edge on "error" leaves it


@dataclass(frozen=True, slots=True)
class Graph:
    """One version of a workflow, ready for planning."""

    tasks: tuple[Task, ...]
    steps: tuple[Step, ...]
    roots: tuple[int, ...]  # indexes of the tasks with no edge into them
    by_path: Mapping[str, int]  # step path -> step index
    task_by_id: Mapping[str, int]
    variables: Mapping[str, Any]  # defaults
    output: Template | None
    output_reads: frozenset[int]
    timeout_seconds: float | None
    priority: int
    name: str  # workflow name
    order: tuple[int, ...]  # a topological order of the tasks
