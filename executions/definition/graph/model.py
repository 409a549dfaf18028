"""A published definition, compiled: tasks, steps and edges by index, ready for planning.

It is immutable and does no I/O; workers cache one Graph per version. A container's body is a
separate Graph; indexes are positions in the `tasks` and `steps` of one Graph.
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
    """A step's number of attempts, the delays between them, and whether timeouts are retried."""

    name: str
    max_attempts: int
    base_seconds: float
    max_seconds: float | None  # maximum of one delay, applied after the jitter
    jitter_add: tuple[float, float]  # range of seconds to add, uniform; (0, 0): none
    jitter_ratio: float  # plus or minus this share of the delay, such as 0.1; 0: none
    timeouts: bool = True  # whether an attempt that timed out is retried


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How long equal steps reuse one result, and in which scope.

    `scope` is `workflow` or `workspace`.
    """

    scope: str
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class Concurrency:
    """A limit on running executions with the same rendered key, and what happens at the limit."""

    key: Template
    limit: int
    on_conflict: str  # "queue" | "reject" | "cancelPrevious"


@dataclass(frozen=True, slots=True)
class LabelTemplate:
    """A label of a workflow's executions: the name, and the template of the value."""

    name: str
    value: Template


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """The schedule of automatic checkpoints, and the number to keep."""

    enabled: bool
    every_steps: int
    on_loop: bool
    on_gate: bool
    keep: int


AUTOMATIC, MANUAL = "automatic", "manual"  # when a failed execution is undone


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from one task to another, taken if the source's outcome is `on`."""

    source: int
    target: int
    on: str


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One module of one task, with everything needed to run it.

    `path` is relative to its Graph. In a body, the path of a run's step begins with the prefix of
    its place: `refine[2].draft.main`.
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
    outer_reads: frozenset[tuple[int, int]]  # (levels up, task) in surrounding bodies
    histories: frozenset[int]  # tasks of this Graph whose `history` is read
    callbacks: frozenset[tuple[int, int]]  # (levels up, task) whose callbackUrl is read
    reads_item: bool  # the item of the nearest map
    reads_last: bool  # the outputs of the previous iteration
    reads_previous: bool
    reads_input: bool
    reads_vars: bool
    outcomes: tuple[str, ...]  # empty for a plain module, whose outcome is "success"
    container: str  # "", "loop" or "map"
    cache: CachePolicy | None
    secrets: frozenset[tuple[str, str]] = frozenset()  # (credential, field) that `config` names
    credential: str = ""  # the name of the module's own credential, or ""
    circuit_wait_seconds: float | None = None  # None: the installation's default


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
    handles_error: bool  # whether it has an edge on "error"
    body: Graph | None = None  # of a container only
    tolerant: bool = False  # whether it is a map that continues after failed items
    # The tasks that a loop's condition reads: (0, a task of its body), (1, a task in the same body
    # as the loop), and so on.
    watches: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Graph:
    """One version of a workflow, one container's body, or the undo steps of either, for planning.

    A body has the workflow's name, variables and priority, but no `output`. A body's result is the
    output of the task that no edge leaves; if there are several, their outputs by task ID.
    """

    tasks: tuple[Task, ...]
    steps: LazySteps  # built at their first access
    roots: tuple[int, ...]  # indexes of the tasks without incoming edges
    by_path: Mapping[str, int]  # step path -> step index
    task_by_id: Mapping[str, int]
    variables: Mapping[str, Any]  # defaults
    output: Template | None
    output_reads: frozenset[int]
    timeout_seconds: float | None
    priority: int
    name: str  # workflow name
    order: tuple[int, ...]  # a topological order of the tasks
    kind: str = ""  # of a body: "loop" or "map"; of undo steps: "undo"
    guarded: bool = False  # whether a surrounding container handles a failure in this body
    pure: bool = False  # whether all steps run inline and write no variables
    sinks: tuple[int, ...] = ()  # tasks without outgoing edges
    concurrency: Concurrency | None = None
    labels: tuple[LabelTemplate, ...] = ()
    on_failure: str | None = None  # the slug of the error workflow
    checkpoint: CheckpointPolicy | None = None
    undo: Graph | None = None  # the undo steps of its tasks, under the IDs of these tasks
    undone: frozenset[UUID] = frozenset()  # last modules of tasks with undo steps, also in bodies
    compensation: str = AUTOMATIC


# Decide when the engine takes an automatic checkpoint. No I/O.


@dataclass(slots=True)
class Passed:
    """The steps that a worker recorded since the last checkpoint."""

    steps: int = 0
    gate: bool = False
    turn: bool = False  # a loop's body is about to begin, or an iteration ended


def due(policy: CheckpointPolicy | None, passed: Passed) -> bool:
    """Return whether a checkpoint is due after these steps; False if no policy is enabled."""
    if policy is None or not policy.enabled:
        return False
    return (
        passed.steps >= policy.every_steps
        or (passed.gate and policy.on_gate)
        or (passed.turn and policy.on_loop)
    )


# The named retry policies, and a step's own policy in full.
#
# docs/explanation/failures.md explains the numbers. A version stores its policies in full, so that
# a later change here does not affect existing executions.


POLICIES: Mapping[str, RetryPolicy] = {
    policy.name: policy
    for policy in (
        RetryPolicy("standard", 3, 1.0, None, (0.0, 0.5), 0.0),
        RetryPolicy("llm", 4, 1.0, 60.0, (0.0, 0.0), 0.1),
        RetryPolicy("patient", 10, 2.0, 300.0, (0.0, 3.0), 0.0),
        RetryPolicy("none", 1, 0.0, None, (0.0, 0.0), 0.0),
    )
}

DEFAULT_POLICY = "standard"
CUSTOM = "custom"


def written_out(retry: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return all values of a retry policy; `retry` is its name, or a task's own values.

    A task's own values are `maxAttempts`, `baseSeconds`, `maxSeconds`, `timeouts` and `jitter` (a
    share of the delay, or `[least, most]` seconds added); the standard policy provides the rest.
    Raises KeyError for an unknown name.
    """
    if isinstance(retry, str):
        return _as_document(POLICIES[retry])
    document = _as_document(POLICIES[DEFAULT_POLICY]) | {"name": CUSTOM}
    document |= {key: value for key, value in retry.items() if key in document and key != "name"}
    jitter = retry.get("jitter")
    if isinstance(jitter, (int, float)):
        document |= {"jitterAdd": [0.0, 0.0], "jitterRatio": jitter}
    elif jitter is not None:
        document |= {"jitterAdd": list(jitter), "jitterRatio": 0.0}
    return document


def policy(document: Mapping[str, Any]) -> RetryPolicy:
    """Return the policy of a document that `written_out` returned."""
    least, most = document["jitterAdd"]
    return RetryPolicy(
        name=document["name"],
        max_attempts=document["maxAttempts"],
        base_seconds=document["baseSeconds"],
        max_seconds=document["maxSeconds"],
        jitter_add=(least, most),
        jitter_ratio=document["jitterRatio"],
        timeouts=document["timeouts"],
    )


def _as_document(policy: RetryPolicy) -> dict[str, Any]:
    return {
        "name": policy.name,
        "maxAttempts": policy.max_attempts,
        "baseSeconds": policy.base_seconds,
        "maxSeconds": policy.max_seconds,
        "jitterAdd": list(policy.jitter_add),
        "jitterRatio": policy.jitter_ratio,
        "timeouts": policy.timeouts,
    }


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits and defaults for definitions, which come from the settings."""

    loop_limit_condition: int = 1_000  # maximum number of iterations of a `while` or `until` loop
    loop_limit_default: int = 1_000  # the default limit
    checkpoint_enabled: bool = True
    checkpoint_every_steps: int = 5
    checkpoint_keep: int = 10
    thread_queues: frozenset[str] = frozenset({"io"})  # whose workers are threads of one process
    remote_queues: frozenset[str] = frozenset()  # served by remote runners, over HTTP


DEFAULTS = Limits()
