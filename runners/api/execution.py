"""One execution over HTTP: the graph of its version, and the reasons why it has not ended."""

# ruff: noqa: N815 - the names are the JSON's
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import CamelCaseSerializer, Json
from executions.api.modules import CONTAINERS
from executions.definition.graph.document import SUCCESS
from executions.definition.graph.model import Graph, Task
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from executions.states import ExecutionState
from runners.explain.explanation import explain
from runners.states import RunState

# A version's graph as JSON: its tasks and edges, including those of bodies, by path.


class GraphStep(CamelCaseSerializer):
    """One step of a task: the step's path and its module."""

    path = serializers.CharField(
        help_text="As in a run's `stepPath`, without iterations: `refine.draft.main`."
    )
    module = serializers.CharField()


class GraphNode(CamelCaseSerializer):
    """A task of the graph, and the chain of its modules."""

    path = serializers.CharField(help_text="Without iterations: `refine.draft` is inside `refine`.")
    title = serializers.CharField()
    module = serializers.CharField(help_text="The module of its first step.")
    container = serializers.ChoiceField(CONTAINERS, help_text="Whether it has a body.")
    parent = serializers.CharField(  # type: ignore[assignment]
        help_text="The container of the step.", allow_blank=True
    )
    steps = GraphStep(many=True, help_text="Its chain of modules.")
    undo = serializers.CharField(help_text="The module that undoes the step; empty for none.")


class GraphEdge(CamelCaseSerializer):
    """An edge between two tasks of the workflow or of one body."""

    # Python reserves the name `from`, so `get_fields` adds this field from a mapping.
    to = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]
        allow_blank=True, help_text='The outcome for which it is taken; "" is success.'
    )

    def get_fields(self) -> Any:
        """Return the fields, beginning with `from`, whose name is a Python keyword."""
        return {"from": serializers.CharField(), **super().get_fields()}


class GraphShape(CamelCaseSerializer):
    """The graph of an execution's version."""

    versionId = serializers.UUIDField()
    nodes = GraphNode(many=True, help_text="Containers precede their contents.")
    edges = GraphEdge(many=True)


def shown(graph: Graph) -> dict[str, Any]:
    """Return the `nodes` and `edges` of a workflow's graph, as in `GraphShape`."""
    bodies = _bodies(graph, "")
    return {
        "nodes": list(_nodes(graph, "")),
        "edges": [edge for body, parent in bodies for edge in _edges(body, parent)],
    }


def _bodies(graph: Graph, parent: str) -> Iterator[tuple[Graph, str]]:
    """Yield the graph, with the path "", and each body's graph, with its container's path."""
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
        "undo": _undo(graph, task),
    }


def _undo(graph: Graph, task: Task) -> str:
    if graph.undo is None or task.id not in graph.undo.task_by_id:
        return ""
    return graph.undo.steps[graph.undo.task_by_id[task.id]].module


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


class ExecutionGraph(Endpoint):
    """The endpoint that returns an execution's graph, which the live monitor draws."""

    @operation(
        "getWorkflowExecutionGraph",
        "WorkflowExecution",
        {200: GraphShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return the graph of the executed version, not of the current draft."""
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id", "version_id")
        row, _ = obtain(self.user, rows, id, Action.VIEW)
        return Response({"versionId": row.version_id, **shown(compiled(row.version_id).graph)})


# Explain why an execution has not ended.


# An explanation as JSON.

STATES = [(state.value, state.value.lower()) for state in RunState]


class ReasonShape(CamelCaseSerializer):
    """Why an execution or step does not continue: code, message, times and details."""

    code = serializers.CharField(help_text="Stable; docs/reference/api.md lists them.")
    message = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    until = serializers.DateTimeField(
        allow_null=True, help_text="When it changes automatically, if known."
    )
    details = Json(help_text="Ids, times and numbers, depending on the code.")


class ExplainedStep(CamelCaseSerializer):
    """A step that has not ended, or a task that has not begun (without run, state and attempt)."""

    path = serializers.CharField()
    task_id = serializers.UUIDField()
    run_id = serializers.UUIDField(allow_null=True)
    state = serializers.ChoiceField(STATES, allow_null=True)
    attempt = serializers.IntegerField(allow_null=True)
    reason = ReasonShape()


class ContainerCount(CamelCaseSerializer):
    """The number of live runs in one state in the bodies of a loop or map."""

    container = serializers.CharField()
    state = serializers.ChoiceField(STATES)
    runs = serializers.IntegerField()


class ExplanationShape(CamelCaseSerializer):
    """Why an execution has not ended: the reasons of the execution itself and of its steps."""

    execution_id = serializers.UUIDField()
    state = serializers.ChoiceField(ExecutionState.choices)
    explainedAt = serializers.DateTimeField(source="at")
    reason = ReasonShape()
    steps = ExplainedStep(many=True)
    containers = ContainerCount(many=True)
    truncated = serializers.BooleanField(
        source="more", help_text=("Whether the answer is incomplete.")
    )


LARGE = ("trigger_payload", "context_data", "output", "error_stack_trace", "metrics_snapshot")


class ExplainExecution(Endpoint):
    """The endpoint that explains why an execution and its unfinished steps have not ended."""

    @operation(
        "explainWorkflowExecution",
        "WorkflowExecution",
        {200: ExplanationShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return the reason why the execution has not ended, and one for each unfinished step."""
        row, _ = obtain(self.user, WorkflowExecution.objects.defer(*LARGE), id, Action.VIEW)
        return Response(ExplanationShape(explain(row)).data)
