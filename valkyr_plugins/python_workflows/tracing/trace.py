"""One trace: run a workflow's function and record its calls as tasks with edges.

A task runs after the tasks whose results it reads. A task that reads no result from below the last
barrier runs after that barrier. With `after=`, the given tasks take the place of the barrier.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

from runners.public.modules import TRACER
from valkyr_plugins.python_workflows.tracing import places
from valkyr_plugins.python_workflows.tracing.graph import (
    SUCCESS,
    Block,
    TracedEdge,
    TracedScope,
    TracedTask,
    refuse_cycle,
    unreached,
)
from valkyr_plugins.python_workflows.tracing.handles import HandleFacts, ValueHandle, facts_of
from valkyr_plugins.python_workflows.tracing.options import CallOptions
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.values import Rendered, rendered

_CURRENT: "ContextVar[Trace | None]" = ContextVar("valkyr_trace", default=None)
_MENTION = re.compile(r"tasks\.([A-Za-z_]\w*)|tasks\[(['\"])(.+?)\2\]")
# Known before the task starts, or from earlier iterations.
WITHOUT_ORDER = (".callbackUrl", ".history")
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def tracing() -> "Trace":
    """Return the active trace. Raises TracingError if there is none."""
    found = _CURRENT.get()
    if found is None:
        raise TracingError("use this only in a function decorated with @workflow")
    return found


def is_tracing() -> bool:
    """Return whether a workflow is being traced."""
    return _CURRENT.get() is not None


class Trace:
    """The calls that a workflow's function has recorded so far."""

    def __init__(self) -> None:
        self.scope = TracedScope()
        self.block = Block(self.scope)
        self.variables: dict[str, Any] = {}
        # The frame that calls a body; its variable does not name a task.
        self._caller: FrameType | None = None
        self._names: dict[TracedScope, str] = {}  # the name of the traced tool, by its scope

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record calls in this trace while the block runs."""
        from valkyr_plugins.python_workflows.constructs.steps import record

        trace, tracer = _CURRENT.set(self), TRACER.set(record)
        try:
            yield
        finally:
            TRACER.reset(tracer)
            _CURRENT.reset(trace)

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Within the `with` statement, record calls in `block`, of this scope or an inner one."""
        was = self.scope, self.block
        self.scope, self.block = block.scope, block
        try:
            yield block
        finally:
            self.scope, self.block = was

    def add(
        self,
        use: str,
        config: Mapping[str, Any],
        options: CallOptions,
        *,
        name: str = "",
        line: bool = False,
        leads_on: tuple[str, ...] = (SUCCESS,),
        body: TracedScope | None = None,
        task: TracedTask | None = None,
        shape: Any = Any,
    ) -> TracedTask:
        """Add a task of the module `use` with these inputs, after the tasks that the inputs read.

        `name` is the base of the id if neither `id=` nor a variable gives one. `task` is a reserved
        task, which has an id; `shape` is the annotation of the output. Raises TracingError.
        """
        made = task or self.reserve(options, name or use.rpartition(".")[2])
        inputs = self.read(config)
        made.leads_on, made.body = leads_on, body
        made.document |= {"use": use}
        if inputs.value:
            made.document["with"] = inputs.value
        made.document |= options.document()
        reads = self.local([*inputs.tasks, *(body.outside if body else ())])
        self.place(made, reads, options, line=line)
        self.add_undo(made, options, config, shape)
        return made

    def add_undo(
        self, task: TracedTask, options: CallOptions, config: Mapping[str, Any], shape: Any = Any
    ) -> None:
        """Add the step that undoes a placed task, if the call names one."""
        from valkyr_plugins.python_workflows.constructs.undoing import undo_of

        if options.undo is not None:
            task.document["undo"] = undo_of(self, task, options.undo, config, shape)

    def reserve(self, options: CallOptions, name: str) -> TracedTask:
        """Return a new task with a reserved id, not yet in a block. Raises TracingError."""
        wanted = options.id or self.name_of(name)
        if not _ID.fullmatch(wanted):
            raise TracingError(
                f"a task's id may contain letters, digits, _ and -; found {wanted!r}"
            )
        scope = self.scope
        if options.id:
            if options.id in scope.taken:
                raise TracingError(
                    f"another task here has the id {wanted!r}; choose a different id"
                )
            scope.taken.add(wanted)
        return TracedTask(options.id or scope.new_id(wanted), scope, places.here())

    def name_of(self, name: str) -> str:
        """Return the name of a task without `id=`: from `calling`, its variable, or `name`."""
        named = "" if self._caller is places.user_frame() else places.variable()
        return self._names.get(self.scope) or named or name

    @contextmanager
    def calling(self, name: str = "") -> Iterator[None]:
        """Within the block, do not name a body's task after the variable of the construct's call.

        If `name` is given, it is the name of the body's task.
        """
        was, self._caller = self._caller, places.user_frame()
        self._names[self.scope] = name
        try:
            yield
        finally:
            self._caller = was
            del self._names[self.scope]

    def place(
        self, task: TracedTask, reads: list[TracedTask], options: CallOptions, *, line: bool = False
    ) -> None:
        """Put a task with its edges into the block. Raises TracingError for invalid edges."""
        if options.after is None:
            edges, all_of = self.natural_edges(reads, line=line)
        else:
            edges, all_of = [edge for one in options.after for edge in self.edges_from(one)], False
            edges += [edge for one in unreached(reads, edges) for edge in one.goes_on()]
        join = options.join or ("all" if all_of and len(edges) > 1 else "")
        self.put(task, edges, join, line=line and options.after is None)

    def natural_edges(
        self, reads: Sequence[TracedTask], *, line: bool
    ) -> tuple[list[TracedEdge], bool]:
        """Return the edges that the code's order implies, and whether all must be taken."""
        block = self.block
        if not line or block.parallel:
            return block.joined(block.entry, block.joins_all, reads)
        ends = block.ends()
        return block.joined(ends, block.needs_all(ends), reads)

    def put(
        self, task: TracedTask, edges: list[TracedEdge], join: str, *, line: bool = False
    ) -> None:
        """Put a task with these edges into the current block."""
        block = self.block
        task.edges, task.join, task.block = edges, join, block
        block.scope.tasks.append(task)
        block.segment.append(task)
        if line and not block.parallel:
            block.draw_line(task.goes_on())

    def read(self, value: Any) -> Rendered:
        """Return the document's form of a value, and the tasks it reads. Raises TracingError."""
        found = rendered(value)
        scope = self.scope
        for text in found.texts:
            for mention in _MENTION.finditer(text):
                after = text[mention.end() :]
                task = scope.named(mention[1] or mention[3])
                if task is not None and not after.startswith(WITHOUT_ORDER):
                    found.tasks.append(task)
        self._check_scopes(found)
        return found

    def _check_scopes(self, found: Rendered) -> None:
        around = list(self.scope.scopes())
        for one in found.within:
            kind = one.kind
            nearest = next((scope for scope in around if scope.kind == kind), None)
            if one not in around:
                what = "item" if kind == "map" else "turn"
                raise TracingError(
                    f"the {what} of a body cannot be read outside of it; read the container's "
                    "result"
                )
            if nearest is not one:
                raise TracingError(
                    f"this reads the item or iteration of an outer {kind}, but a template "
                    "sees only the innermost; store it there with `kept = "
                    "modules.flow.noop(value=…)`"
                )
        if found.follows is not None and self.scope is not found.follows.scope:
            raise TracingError(
                "a step of a chain cannot be read outside of it; read the chain's result instead"
            )

    def local(self, tasks: Iterable[TracedTask]) -> list[TracedTask]:
        """Return the tasks that are in this scope; record the others. Raises TracingError."""
        scope, own = self.scope, dict.fromkeys(tasks)
        around = list(scope.scopes())
        for task in own:
            if task.scope not in around:
                raise TracingError(
                    f"{task.id!r} ran inside a body, whose tasks cannot be read from outside; "
                    "read the result of the loop or map instead"
                )
            for one in around[: around.index(task.scope)]:
                one.outside.add(task)
        return [task for task in own if task.scope is scope]

    def note_reads(self, value: Any) -> Rendered:
        """Read a value for a task that is placed later. Raises TracingError.

        Also record the tasks of enclosing scopes from which the value comes.
        """
        found = self.read(value)
        self.local(found.tasks)
        return found

    def edges_from(self, value: Any) -> list[TracedEdge]:
        """Return the edges that begin at a handle, a branch or a list. Raises TracingError."""
        if isinstance(value, list | tuple):
            return [edge for one in value for edge in self.edges_from(one)]
        facts = facts_of(value)
        if facts is not None and facts.outcomes is not None and facts.outcomes[1]:
            task, outcomes = facts.outcomes
            edges = [TracedEdge(task, outcome) for outcome in outcomes]
        elif facts is not None and facts.task is not None:
            edges = facts.task.goes_on()
        else:
            raise TracingError(
                "expected the result of a step, or a branch such as failed(step); found "
                f"{value!r:.80}"
            )
        if edges[0].source.scope is not self.scope:
            raise TracingError(
                f"edges cannot lead into or out of a body; {edges[0].source.id!r} is on the "
                "other side"
            )
        return edges

    def precede(self, earlier: Any, later: Any) -> Any:
        """Handle `earlier >> later`: add edges, which replace edges from tasks before `earlier`."""
        for one in later if isinstance(later, list | tuple) else [later]:
            facts = facts_of(one)
            if facts is None or facts.task is None:
                raise TracingError(
                    f"`>>` needs the result of a step on its right; found {one!r:.80}"
                )
            task = facts.task
            added = self.edges_from(earlier)
            for edge in added:
                refuse_cycle(edge.source, task)
            reached = {done for edge in added for done in edge.source.before()}
            kept = [edge for edge in task.edges if edge.source not in reached]
            task.edges = [*kept, *(edge for edge in added if edge not in kept)]
            task.join = task.join or ("all" if len(task.edges) > 1 else "")
        return later


def output_of(task: TracedTask, *, shape: Any = Any, path: str = "output") -> ValueHandle:
    """Return the handle of a task's output, or of the task's value at another `path`."""
    return ValueHandle(
        HandleFacts(
            f"{address_of(task)}.{path}",
            reads=frozenset({task}),
            task=task,
            shape=shape,
        )
    )


def address_of(task: TracedTask) -> str:
    """Return a task's address in templates, such as `tasks.charge`."""
    return f"tasks.{task.id}" if task.id.isidentifier() else f"tasks[{task.id!r}]"


def task_of(value: Any) -> TracedTask:
    """Return the task whose result is the value. Raises TracingError."""
    facts = facts_of(value)
    if facts is None or facts.task is None:
        raise TracingError(f"expected the result of a step; found {value!r:.80}")
    task: TracedTask = facts.task
    return task
