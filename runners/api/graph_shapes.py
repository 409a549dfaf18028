"""A version's graph as JSON: tasks and edges by path, those of bodies included."""
# ruff: noqa: N815 - the names are the JSON's

from collections.abc import Iterator
from typing import Any

from rest_framework import serializers

from executions.api.camel_case import CamelCaseSerializer
from executions.api.modules import CONTAINERS
from executions.definition.graph.definition import SUCCESS
from executions.definition.graph.model import Graph, Task


class GraphStep(CamelCaseSerializer):
    """One module of a task."""

    path = serializers.CharField(
        help_text="As in a run's `stepPath`, without turns: `refine.draft.main`."
    )
    module = serializers.CharField()


class GraphNode(CamelCaseSerializer):
    """A task."""

    path = serializers.CharField(help_text="Without turns: `refine.draft` stands in `refine`.")
    title = serializers.CharField()
    module = serializers.CharField(help_text="Its first step's.")
    container = serializers.ChoiceField(CONTAINERS, help_text="Whether it has a body.")
    parent = serializers.CharField(  # type: ignore[assignment]
        help_text="The container it stands in.", allow_blank=True
    )
    steps = GraphStep(many=True, help_text="The chain of modules it is made of.")


class GraphEdge(CamelCaseSerializer):
    """An edge from one task to another of the same body."""

    # `from` is a keyword; serializers take such names from a mapping.
    to = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]
        allow_blank=True, help_text='The outcome on which it is taken; "" is success.'
    )

    def get_fields(self) -> Any:
        """With `from`, first."""
        return {"from": serializers.CharField(), **super().get_fields()}


class GraphShape(CamelCaseSerializer):
    """The graph of the version that an execution runs."""

    versionId = serializers.UUIDField()
    nodes = GraphNode(many=True, help_text="Containers before what stands in them.")
    edges = GraphEdge(many=True)


def shown(graph: Graph) -> dict[str, Any]:
    """A workflow's graph as `GraphShape` has it."""
    bodies = _bodies(graph, "")
    return {
        "nodes": list(_nodes(graph, "")),
        "edges": [edge for body, parent in bodies for edge in _edges(body, parent)],
    }


def _bodies(graph: Graph, parent: str) -> Iterator[tuple[Graph, str]]:
    """The graph itself and the bodies in it, each with the path of its container."""
    yield graph, parent
    for task in graph.tasks:
        if task.body is not None:
            yield from _bodies(task.body, _path(parent, task.id))


def _nodes(graph: Graph, parent: str) -> Iterator[dict[str, Any]]:
    for task in graph.tasks:
        yield _node(graph, task, parent)
        if task.body is not None:
            yield from _nodes(task.body, _path(parent, task.id))


def _node(graph: Graph, task: Task, parent: str) -> dict[str, Any]:
    steps = [graph.steps[index] for index in task.steps]
    return {
        "path": _path(parent, task.id),
        "title": task.name,
        "module": steps[0].module,
        "container": task.body.kind if task.body is not None else "",
        "parent": parent,
        "steps": [{"path": _path(parent, step.path), "module": step.module} for step in steps],
    }


def _edges(graph: Graph, parent: str) -> Iterator[dict[str, Any]]:
    for task in graph.tasks:
        for edge in task.outgoing:
            yield {
                "from": _path(parent, task.id),
                "to": _path(parent, graph.tasks[edge.target].id),
                "label": "" if edge.on == SUCCESS else edge.on,
            }


def _path(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent else name
