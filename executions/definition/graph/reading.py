"""Read the well-formed parts of a body, which the rules check.

Malformed parts are omitted here and reported by `schema.shape_problems`, so that each error is
reported once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from executions.definition.catalog import Catalog, ModuleSpec
from executions.definition.graph.document import ERROR, SUCCESS, outcome_text, split_after
from executions.definition.templating.errors import Pointer

MAIN = "main"


@dataclass(slots=True)
class ModuleEntry:
    """One module of a task; `config` is None if `with` is not an object."""

    pointer: Pointer
    id: str | None
    type: str
    spec: ModuleSpec | None
    config: Mapping[str, Any] | None
    document: Mapping[str, Any]
    sound: bool = True  # its config has no problem, so its outcomes are known

    def outcomes(self) -> tuple[str, ...] | None:
        """Return a branch module's outcomes; () for a plain module, None if they are unknown."""
        if self.spec is None or self.config is None or not self.sound:
            return None
        return tuple(self.spec.outcomes_for(self.config))


@dataclass(slots=True)
class TaskEntry:
    """One task; `index` is its position among the entries, not in the document."""

    index: int
    pointer: Pointer
    id: str
    document: Mapping[str, Any]
    modules: list[ModuleEntry]
    body: "BodyReading | None" = None
    undo: ModuleEntry | None = None

    @property
    def steps(self) -> "list[tuple[ModuleEntry, Mapping[str, Any]]]":
        """Return each module with the task's document, and the undo module with {}."""
        own: list[tuple[ModuleEntry, Mapping[str, Any]]] = [
            (module, self.document) for module in self.modules
        ]
        return own if self.undo is None else [*own, (self.undo, {})]

    @property
    def container(self) -> str:
        """Return the kind of a container task: `loop` or `map`; "" for other tasks."""
        spec = self.modules[0].spec if self.modules else None
        return spec.container if spec is not None else ""

    @property
    def body_kind(self) -> str:
        """Return the kind of the body as authors write it: `loop`, `map`, or "" for other tasks."""
        spec = self.modules[0].spec if self.modules else None
        return (spec.body_kind or spec.container) if spec is not None else ""

    def gate_outcomes(self) -> tuple[str, ...] | None:
        """Return the task's outcomes, which are those of its last module; None if unknown."""
        return self.modules[-1].outcomes() if self.modules else None


@dataclass(frozen=True, slots=True)
class EdgeEntry:
    """One edge; `source` and `target` are indexes of entries, or None for an unknown task ID."""

    pointer: Pointer
    source_pointer: Pointer
    target_pointer: Pointer
    from_id: str
    to_id: str
    on: str
    stated: bool  # whether the outcome was given, not assumed
    source: int | None
    target: int | None

    @property
    def stands(self) -> bool:
        """Return whether both tasks of the edge exist."""
        return self.source is not None and self.target is not None


@dataclass(slots=True)
class BodyReading:
    """The well-formed tasks and edges of one body, with their pointers."""

    tasks: list[TaskEntry] = field(default_factory=list)
    edges: list[EdgeEntry] = field(default_factory=list)
    by_id: dict[str, int] = field(default_factory=dict)  # of duplicate ids, the first
    duplicates: list[TaskEntry] = field(default_factory=list)
    holder: TaskEntry | None = None  # the task whose body this is; None for the workflow itself
    outside: "BodyReading | None" = None  # the body that contains the holder

    @property
    def title(self) -> str:
        """Return the body's name in messages."""
        return "the workflow itself" if self.holder is None else f'the body of "{self.holder.id}"'

    @property
    def kind(self) -> str | None:
        """Return the body's kind: `loop` or `map`, "" for the workflow itself, None if unknown."""
        return "" if self.holder is None else self.holder.body_kind or None

    @property
    def depth(self) -> int:
        """Return the number of surrounding bodies; 0 for the workflow itself."""
        return sum(1 for _ in self.around()) - 1

    def around(self) -> Iterator["BodyReading"]:
        """Yield this body and the bodies around it, up to the workflow itself."""
        body: BodyReading | None = self
        while body is not None:
            yield body
            body = body.outside

    def everywhere(self) -> Iterator["BodyReading"]:
        """Yield this body and the bodies of its tasks, at any depth."""
        yield self
        for task in self.tasks:
            if task.body is not None:
                yield from task.body.everywhere()

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the edges whose ends exist, as pairs of indexes."""
        return [
            (edge.source, edge.target)
            for edge in self.edges
            if edge.source is not None and edge.target is not None
        ]


def count_tasks(document: Mapping[str, Any]) -> int:
    """Count the tasks of a document and of its tasks' bodies, well-formed or not."""
    count, pending = 0, [document]
    while pending:
        tasks = pending.pop().get("tasks")
        if isinstance(tasks, list):
            count += len(tasks)
            bodies = (task.get("body") for task in tasks if isinstance(task, dict))
            pending += [body for body in bodies if isinstance(body, dict)]
    return count


def read_body(
    body: Mapping[str, Any],
    pointer: Pointer,
    catalog: Catalog,
    *,
    holder: TaskEntry | None = None,
    outside: BodyReading | None = None,
) -> BodyReading:
    """Read the well-formed tasks and edges of `body` at `pointer`, and of its tasks' bodies.

    `holder` is the task that has this body, and `outside` is the body with that task.
    """
    reading = BodyReading(holder=holder, outside=outside)
    for place, task in _objects(body.get("tasks"), (*pointer, "tasks")):
        if not isinstance(task.get("id"), str):
            continue
        entry = TaskEntry(
            len(reading.tasks), place, task["id"], task, _modules(task, place, catalog)
        )
        reading.tasks.append(entry)
        undo = task.get("undo")
        if isinstance(undo, dict) and isinstance(undo.get("use"), str):
            entry.undo = _module(undo, MAIN, (*place, "undo"), catalog)
        if isinstance(task.get("body"), dict):
            within = (*place, "body")
            entry.body = read_body(task["body"], within, catalog, holder=entry, outside=reading)
        if entry.id in reading.by_id:
            reading.duplicates.append(entry)
        else:
            reading.by_id[entry.id] = entry.index
    reading.edges = [*_edges(body, pointer, reading.by_id), *_after_edges(reading)]
    return reading


def _objects(value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield (*pointer, index), item


def _modules(task: Mapping[str, Any], place: Pointer, catalog: Catalog) -> list[ModuleEntry]:
    if "modules" in task:
        return [
            _module(module, module.get("id"), where, catalog)
            for where, module in _objects(task["modules"], (*place, "modules"))
            if isinstance(module.get("use"), str)
        ]
    return [_module(task, MAIN, place, catalog)] if isinstance(task.get("use"), str) else []


def _module(
    document: Mapping[str, Any], module_id: Any, pointer: Pointer, catalog: Catalog
) -> ModuleEntry:
    config = document.get("with", {})
    return ModuleEntry(
        pointer=pointer,
        id=module_id if isinstance(module_id, str) else None,
        type=document["use"],
        spec=catalog.get(document["use"]),
        config=config if isinstance(config, dict) else None,
        document=document,
    )


def _edges(
    body: Mapping[str, Any], pointer: Pointer, by_id: Mapping[str, int]
) -> Iterator[EdgeEntry]:
    for place, edge in _objects(body.get("edges"), (*pointer, "edges")):
        from_id, to_id, on = edge.get("from"), edge.get("to"), outcome_text(edge.get("on", SUCCESS))
        if isinstance(from_id, str) and isinstance(to_id, str) and isinstance(on, str):
            yield EdgeEntry(
                pointer=place,
                source_pointer=(*place, "from"),
                target_pointer=(*place, "to"),
                from_id=from_id,
                to_id=to_id,
                on=on,
                stated="on" in edge,
                source=by_id.get(from_id),
                target=by_id.get(to_id),
            )


def _after_edges(reading: BodyReading) -> Iterator[EdgeEntry]:
    for task in reading.tasks:
        after = task.document.get("after")
        entries = [after] if isinstance(after, str) else after
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            if isinstance(entry, str):
                place: Pointer = (*task.pointer, "after", *([index] if entries is after else []))
                from_id, on = split_after(entry)
                yield EdgeEntry(
                    pointer=place,
                    source_pointer=place,
                    target_pointer=place,
                    from_id=from_id,
                    to_id=task.id,
                    on=on,
                    stated=":" in entry,
                    source=reading.by_id.get(from_id),
                    target=task.index,
                )


def outcomes_of(task: TaskEntry) -> tuple[str, ...] | None:
    """Return the outcomes that an edge from the task can name; None if they are unknown."""
    gate = task.gate_outcomes()
    return None if gate is None else (*(gate or (SUCCESS,)), ERROR)
