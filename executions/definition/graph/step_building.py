"""Build a graph's steps on first access: a process runs few of a large graph's steps.

Parsing the templates of 2,000 steps takes seconds; a new process could be killed before it
finishes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from threading import Lock
from types import MappingProxyType
from typing import Any, overload
from uuid import UUID, uuid5

from executions.definition.graph.document import CALLBACK_URL
from executions.definition.graph.model import CachePolicy, Step, policy
from executions.definition.graph.storable import sha256_hex
from executions.definition.templates import Template, compile_template, has_template

# Find the tasks that a template reads, by index.
#
# `ids` maps task IDs to indexes: first those of the body in which the template is rendered, then
# those of each surrounding body. A name means the innermost task with this ID.


Ids = tuple[Mapping[str, int], ...]


def tasks_read(template: Template, ids: Ids) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """Return indexes of tasks whose results a template reads; (level, index) for outer tasks."""
    own: set[int] = set()
    outer: set[tuple[int, int]] = set()
    for reference in template.references:
        if reference[0] != "tasks" or reference[2:] == (CALLBACK_URL,):
            continue
        level, task = _innermost(reference[1], ids)
        if level:
            outer.add((level, task))
        else:
            own.add(task)
    return frozenset(own), frozenset(outer)


def callbacks_read(template: Template, ids: Ids) -> frozenset[tuple[int, int]]:
    """Return the tasks whose callback URL a template reads, as pairs of level and index."""
    return frozenset(
        _innermost(reference[1], ids)
        for reference in template.references
        if reference[0] == "tasks" and reference[2:] == (CALLBACK_URL,)
    )


def histories_read(template: Template, task_by_id: Mapping[str, int]) -> frozenset[int]:
    """Return the indexes of tasks whose history a template may read, as in `tasks.a`."""
    return frozenset(
        task_by_id[reference[1]]
        for reference in template.references
        if reference[0] == "tasks"
        and reference[1] in task_by_id
        and (len(reference) < 3 or reference[2] == "history")
    )


def _innermost(name: str, ids: Ids) -> tuple[int, int]:
    """Return the innermost task with this name, as (levels outside the template's body, index)."""
    level = next(level for level, known in enumerate(ids) if name in known)
    return level, ids[level][name]


LAST = frozenset({("loop",), ("loop", "previous")})


@dataclass(frozen=True, slots=True)
class BodyContext:
    """The data that the steps of one graph or body share."""

    workflow_id: UUID
    prefix: str  # of its tasks' paths, such as `refine.`; empty for the workflow
    kind: str  # "", "loop" or "map"
    ids: Ids


@dataclass(frozen=True, slots=True)
class _Unbuilt:
    """One module of a resolved task, from which a step is built."""

    document: Mapping[str, Any]
    task: int
    task_id: str
    position: int  # in the task's chain
    last: bool


class LazySteps(Sequence[Step]):
    """The steps of one graph or body, by index; each is built once, on first access.

    Threads may share the sequence: all get the same object for a step. Access raises
    TemplateSyntaxProblems for an invalid template, which publishing rejects.
    """

    __slots__ = (
        "_body", "_built", "_lock", "_paths", "_unbuilt", "following", "pure", "task_of", "writers",
    )  # fmt: skip

    def __init__(self, body: BodyContext, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Prepare the steps of the body's resolved tasks, without building them."""
        self._body = body
        self._unbuilt: list[_Unbuilt | None] = [
            _Unbuilt(module, index, task["id"], position, position + 1 == len(task["modules"]))
            for index, task in enumerate(tasks)
            for position, module in enumerate(task["modules"])
        ]
        self._paths = [f"{task['id']}.{one['id']}" for task in tasks for one in task["modules"]]
        # By a step's index: its task, and the next step in that task's chain or None. Planning
        # reads these after each step, often for many parallel tasks; indexing a tuple takes a third
        # of a call's time.
        self.task_of = tuple(step.task for step in self._unbuilt if step is not None)
        self.following = tuple(
            index + 1 if task == after else None
            for index, (task, after) in enumerate(zip_longest(self.task_of, self.task_of[1:]))
        )
        self._built: list[Step | None] = [None] * len(self._unbuilt)
        self._lock = Lock()
        documents = [module for task in tasks for module in task["modules"]]
        # Whether all steps run inline and write no variables, and the indexes of steps that write
        # some.
        self.pure = all(_inline(one) and not one["writesVariables"] for one in documents)
        self.writers = tuple(i for i, one in enumerate(documents) if one["writesVariables"])

    def __len__(self) -> int:
        return len(self._built)

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...

    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        found = self._built[index]
        if found.__class__ is Step:  # the usual case
            return found
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self._build(index % len(self))

    def __iter__(self) -> Iterator[Step]:
        return (self[index] for index in range(len(self)))

    def path(self, index: int) -> str:
        """Return a step's path within its graph, without building it."""
        return self._paths[index]

    def paths(self) -> Mapping[str, int]:
        """Return the index of each step, keyed by its path, without building a step."""
        return MappingProxyType({path: index for index, path in enumerate(self._paths)})

    def mentioning(self, word: str) -> Iterator[Step]:
        """Yield the built steps; also build and yield others that have the word in a template."""
        for index, unbuilt in enumerate(self._unbuilt):
            if unbuilt is None or _mentions(unbuilt.document["with"], word):
                yield self[index]

    def _build(self, index: int) -> Step:
        with self._lock:
            built = self._built[index]
            if built is None:
                unbuilt = self._unbuilt[index]
                assert unbuilt is not None
                path = self._paths[index]
                built = self._built[index] = _step(self._body, index, path, unbuilt)
                self._unbuilt[index] = None  # its document is no longer needed
        return built


def _inline(module: Mapping[str, Any]) -> bool:
    # A step with a result cache is not part of a series of inline steps, because its result is
    # looked up and stored separately.
    return bool(module["inline"] and not module.get("cache"))


def _mentions(value: Any, word: str) -> bool:
    if isinstance(value, str):
        return word in value and has_template(value)
    if isinstance(value, dict):
        return any(_mentions(item, word) for item in value.values())
    return isinstance(value, list) and any(_mentions(item, word) for item in value)


def _step(body: BodyContext, index: int, path: str, unbuilt: _Unbuilt) -> Step:
    module = unbuilt.document
    later = module.get("deferred", ())
    config = compile_template({k: v for k, v in module["with"].items() if k not in later})
    # Deferred templates of a container are rendered inside its body, and so are not included; those
    # of other modules are rendered at the step's place.
    container = module.get("container", "")
    read = config if container or not later else compile_template(module["with"])
    roots = {reference[0] for reference in read.references}
    own, outer = tasks_read(read, body.ids)
    cache = module.get("cache")
    credential = module.get("credential") or ""
    task_uuid = uuid5(body.workflow_id, f"{body.prefix}{unbuilt.task_id}")
    return Step(
        index=index,
        path=path,
        task=unbuilt.task,
        task_uuid=task_uuid,
        module_uuid=uuid5(task_uuid, module["id"]),
        module=module["use"],
        config=config,
        deferred=MappingProxyType(
            {key: compile_template(module["with"][key]) for key in later if key in module["with"]}
        ),
        config_hash=sha256_hex(
            [module["use"], module["with"], *([credential] if credential else [])]
        ),
        previous=index - 1 if unbuilt.position else None,
        following=None if unbuilt.last else index + 1,
        queue=module["queue"],
        inline=_inline(module),
        effect=module["effect"],
        writes_variables=module["writesVariables"],
        timeout_seconds=module["timeoutSeconds"],
        circuit_wait_seconds=module.get("circuitWaitSeconds"),
        retry=policy(module["retry"]),
        reads=own,
        outer_reads=outer,
        histories=histories_read(read, body.ids[0]) if body.kind == "loop" else frozenset(),
        callbacks=callbacks_read(read, body.ids),
        reads_item="item" in roots,
        reads_last=not read.references.isdisjoint(LAST),
        reads_previous="previous" in roots,
        reads_input="input" in roots,
        reads_vars="vars" in roots,
        outcomes=tuple(module["outcomes"]),
        container=container,
        cache=CachePolicy(cache["scope"], cache["ttlSeconds"]) if cache else None,
        secrets=config.secrets,
        credential=credential,
    )
