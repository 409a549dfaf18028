"""A published definition, compiled: tasks, steps and edges by index, ready for planning.

Immutable and free of I/O; workers cache one Graph a version. A container's body is a Graph of its
own; indexes are positions in the `tasks` and `steps` of one Graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from executions.definition.templates import Template

if TYPE_CHECKING:
    from executions.definition.graph.step_building import LazySteps


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
class CachePolicy:
    """Whether and for how long equal steps reuse a result; `scope` is `workflow` or `workspace`."""

    scope: str
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class Concurrency:
    """At most `limit` executions with the same rendered key are under way."""

    key: Template
    limit: int
    on_conflict: str  # "queue" | "reject" | "cancelPrevious"


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """When the engine takes checkpoints by itself, and how many it keeps."""

    enabled: bool
    every_steps: int
    on_loop: bool
    on_gate: bool
    keep: int


@dataclass(frozen=True, slots=True)
class Edge:
    """From one task to another, taken when the source's outcome is `on`."""

    source: int
    target: int
    on: str


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One module of one task, with everything needed to run it.

    `path` is within its Graph; a run's step path has the place of the body before it:
    `refine[2].` and `draft.main`.
    """

    index: int
    path: str  # "charge.pay"; "fetch.main"
    task: int  # index into Graph.tasks
    task_uuid: UUID
    module_uuid: UUID
    module: str  # module type
    config: Template  # compiled `with`, without the deferred keys
    deferred: Mapping[str, Template]  # rendered later, in another scope: a loop's `until`
    config_hash: str  # SHA-256, lower-case hex, of the module type and canonical `with`
    previous: int | None  # step indexes in the same task's chain
    following: int | None
    queue: str
    inline: bool
    effect: str
    writes_variables: bool
    timeout_seconds: float
    retry: RetryPolicy
    reads: frozenset[int]  # tasks of this Graph whose results the templates refer to
    outer_reads: frozenset[tuple[int, int]]  # (bodies up, task there) of those around it
    histories: frozenset[int]  # tasks of this Graph whose earlier outputs are read
    callbacks: frozenset[tuple[int, int]]  # (bodies up, task there) whose callbackUrl is read
    reads_item: bool  # the nearest map's
    reads_last: bool  # the outputs of the iteration before
    reads_previous: bool
    reads_input: bool
    reads_vars: bool
    outcomes: tuple[str, ...]  # empty for a plain module, whose outcome is "success"
    container: str  # "", "loop" or "map"
    cache: CachePolicy | None
    secrets: frozenset[tuple[str, str]] = frozenset()  # (credential, field) that `config` names
    credential: str = ""  # the name of the module's own, "" for none
    circuit_wait_seconds: float | None = None  # None: the installation's


@dataclass(frozen=True, slots=True)
class Task:
    """A chain of steps with the edges into and out of it."""

    index: int
    id: str
    name: str
    steps: tuple[int, ...]
    join: str  # "any" | "all"
    incoming: tuple[Edge, ...]
    outgoing: tuple[Edge, ...]
    handles_error: bool  # an edge on "error" leaves it
    body: Graph | None = None  # of a container
    tolerant: bool = False  # a map that goes on past failed items
    # What a loop's condition reads: (0, a task of its body), (1, one beside the loop), and so on.
    watches: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Graph:
    """One version of a workflow, or one container's body, ready for planning.

    A body has the workflow's name, variables and priority, and no output of its own: its output
    is that of its last task, or of all last tasks by id where there are several.
    """

    tasks: tuple[Task, ...]
    steps: LazySteps  # built at their first access
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
    kind: str = ""  # of a body: "loop" or "map"
    guarded: bool = False  # a failure in this body is minded by a container around it
    pure: bool = False  # all steps run inline and write nothing
    sinks: tuple[int, ...] = ()  # tasks that no edge leaves
    concurrency: Concurrency | None = None
    on_failure: str | None = None  # the slug of the error workflow
    checkpoint: CheckpointPolicy | None = None
