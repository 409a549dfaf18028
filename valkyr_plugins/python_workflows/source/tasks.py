"""The tasks of a scope as Python statements, each after its predecessors.

The writer adds each task to a graph, as tracing its statement would. The graph shows which edges
the order of the lines implies. If a task has other edges, the writer lists them all in `after=`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.python_workflows.source.calls import (
    SourceCall,
    call_of,
    modules_of_chain,
    options_of,
    tool_function,
    tools_of,
)
from valkyr_plugins.python_workflows.source.expressions import KnownNames
from valkyr_plugins.python_workflows.source.literals import INDENT, identifier, literal
from valkyr_plugins.python_workflows.tracing.graph import (
    Block,
    TracedEdge,
    TracedScope,
    TracedTask,
)
from valkyr_plugins.python_workflows.tracing.trace import Trace

Document = Mapping[str, Any]
Incoming = Mapping[str, list[tuple[str, str]]]


@dataclass(slots=True)
class SourceWriter:
    """Writes Python statements, and collects the names to import from `valkyr`."""

    reserved: frozenset[str]
    trace: Trace = field(default_factory=Trace)
    used: set[str] = field(default_factory=set)
    names: dict[TracedTask, str] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    results: dict[TracedTask, str] = field(default_factory=dict)

    def body(self, document: Document, depth: int) -> list[str]:
        """Return the statements for a normalised `{tasks, edges}`, in the current scope.

        Raises ValueError for a cycle, or for a task that has no form in Python.
        """
        incoming: dict[str, list[tuple[str, str]]] = {one["id"]: [] for one in document["tasks"]}
        for edge in document.get("edges", []):
            incoming[edge["to"]].append((edge["from"], edge["on"]))
        written: list[str] = []
        for task in _in_order(document["tasks"], incoming):
            written += self._statement(task, incoming[task["id"]], depth)
        return written

    def _statement(
        self, document: Document, incoming: list[tuple[str, str]], depth: int, known_as: str = ""
    ) -> list[str]:
        scope = self.trace.scope
        chosen = call_of(document)
        task = TracedTask(document["id"], scope, "", leads_on=chosen.leads_on)
        name = identifier(task.id, {*self.reserved, *self.names.values()})
        self.names[task] = name
        shown = self._shown(document)
        options = options_of(document, depth)
        if (known_as or name) != task.id or any(task.id in one.taken for one in scope.scopes()):
            options = {"id": task.id, **options}
        scope.taken.add(task.id)
        inner, lines = self._inner(document, chosen, depth)
        options |= self._order(task, chosen, document.get("join", "any"), incoming, inner)
        self.used |= {one for one in (chosen.used, "modules" * ("undo" in document)) if one}
        if chosen.head.startswith("modules."):
            self.results[task] = name
        return shown.write(name, options, lines, depth)

    def _shown(self, document: Document) -> SourceCall:
        """Return the call that records a task, with known Python names in place of templates."""
        config = document.get("with")
        if "modules" in document or not isinstance(config, Mapping):
            return call_of(document)
        later = {key: config[key] for key in ("until", "while") if key in config}
        return call_of({**document, "with": {**self.shown(config), **later}})

    def shown(self, value: Any) -> Any:
        """Return a value, with known Python names in place of templates; see `KnownNames`."""
        scope = self.trace.scope
        inner = {"item": "item"} if any(one.kind == "map" for one in scope.scopes()) else {}

        def result(task_id: str) -> str:
            task = scope.named(task_id)
            return "" if task is None else self.results.get(task, "")

        return KnownNames({**self.roots, **inner}, result).shown(value)

    def _inner(
        self, document: Document, chosen: SourceCall, depth: int
    ) -> tuple[TracedScope | None, list[str]]:
        if chosen.kind == "chain":
            self.used.add("modules")
            return None, modules_of_chain(document, depth + 1)
        if chosen.body is None:
            if "body" in document:
                raise ValueError(
                    f"the task {document['id']!r} uses {document['use']}, whose body has no form "
                    "in Python; keep this workflow as YAML"
                )
            return None, []
        if chosen.kind == "agent":
            return self._tools(document, depth)
        scope = TracedScope(chosen.kind, around=self.trace.scope)
        with self.trace.inside(Block(scope)):
            lines = self.body(chosen.body, depth + 1)
            self.trace.note_reads(dict(chosen.later))
        return scope, lines

    def _tools(self, document: Document, depth: int) -> tuple[TracedScope, list[str]]:
        """Return the scope of an agent's tools, and the lines of the functions that are tools."""
        known = tools_of(document)
        if known:
            self.used.add("tool")
        scope = TracedScope("map", around=TracedScope("loop", around=self.trace.scope))
        lines: list[str] = []
        for task in document["body"]["tasks"]:
            head = f"{INDENT * depth}def {tool_function(task['id'])}(item: Any) -> None:"
            known_as = known[task["id"]]["name"]
            with self.trace.inside(Block(scope)):
                lines += ["", head, *self._statement(task, [], depth + 1, known_as)]
        return scope, lines

    def _order(
        self,
        task: TracedTask,
        chosen: SourceCall,
        join: str,
        incoming: list[tuple[str, str]],
        inner: TracedScope | None,
    ) -> dict[str, Any]:
        """Put a task into the graph; return `after=` and `join=` if the lines imply other edges."""
        trace = self.trace
        inputs = trace.read(chosen.read)
        reads = trace.local([*inputs.tasks, *(inner.outside if inner else ())])
        natural, all_of = trace.natural_edges(reads, line=chosen.line)
        sources = {one.id: one for one in trace.scope.tasks}
        wanted = [TracedEdge(sources[source], on) for source, on in incoming]
        same_join = len(wanted) < 2 or join == ("all" if all_of else "any")
        if set(natural) == set(wanted) and same_join:
            trace.put(task, wanted, "", line=chosen.line)
            return {}
        trace.put(task, wanted, "")
        said: dict[str, Any] = {"after": [self._edge(edge) for edge in wanted]}
        return said | ({"join": "all"} if join == "all" else {})

    def _edge(self, edge: TracedEdge) -> str:
        name = self.names[edge.source]
        if edge.source.leads_on == (edge.on,):
            return name
        if edge.on == "error":
            self.used.add("failed")
            return f"failed({name})"
        self.used.add("outcome")
        return f"outcome({name}) == {literal(edge.on)}"


def _in_order(tasks: list[Document], incoming: Incoming) -> Iterator[Document]:
    """Yield the tasks, each after its predecessors, and otherwise in the document's order.

    Raises ValueError for a cycle.
    """
    left = {task["id"]: task for task in tasks}
    while left:
        ready = next(
            (one for one in left if not any(source in left for source, _ in incoming[one])), None
        )
        if ready is None:
            raise ValueError(f"the tasks {', '.join(left)} wait for each other; fix their edges")
        yield left.pop(ready)
