"""Convert a finished trace to a document: keys in a fixed order, edges in their short form."""

from collections.abc import Sequence
from typing import Any

from valkyr_plugins.python_workflows.tracing.graph import TracedEdge, TracedScope, TracedTask
from valkyr_plugins.python_workflows.tracing.handles import ValueHandle
from valkyr_plugins.python_workflows.tracing.places import TracingError

SCHEMA = "valkyr/1"
_ORDER = (
    "id", "name", "use", "credential", "with", "modules", "retry", "timeoutSeconds",
    "circuitWaitSeconds", "queue", "cache", "undo", "join", "after", "body", "ui",
)  # fmt: skip


def tasks_of(scope: TracedScope) -> list[dict[str, Any]]:
    """Return the documents of a scope's tasks, in the order of their calls."""
    return [_task(task) for task in scope.tasks]


def _task(task: TracedTask) -> dict[str, Any]:
    written: dict[str, Any] = {"id": task.id, **task.document}
    if task.join:
        written["join"] = task.join
    if task.edges:
        written["after"] = _after(task.edges)
    if task.body is not None:
        written["body"] = {"tasks": tasks_of(task.body)}
    return {key: written[key] for key in _ORDER if key in written}


def _after(edges: Sequence[TracedEdge]) -> Any:
    found = list(dict.fromkeys(_edge(edge) for edge in edges))
    return found[0] if len(found) == 1 else found


def _edge(edge: TracedEdge) -> str:
    return edge.source.id if edge.on == "success" else f"{edge.source.id}:{edge.on}"


def body_result(scope: TracedScope, result: Any) -> bool:
    """Return whether the engine accepts a body's result: the output of its single final task."""
    from valkyr_plugins.python_workflows.tracing.handles import facts_of

    facts = facts_of(result)
    followed = {edge.source for task in scope.tasks for edge in task.edges}
    last = [task for task in scope.tasks if task not in followed]
    return isinstance(result, ValueHandle) and facts is not None and last == [facts.task]


def refuse_empty(scope: TracedScope, what: str) -> None:
    """Raise TracingError for a body without a step."""
    if not scope.tasks:
        raise TracingError(f"{what} calls no step; a body needs at least one")
