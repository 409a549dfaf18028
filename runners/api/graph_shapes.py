"""A version's drawing as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.api.camel_case import CamelCaseSerializer
from executions.api.modules import CONTAINERS
from runners.monitor.drawing import Box, Drawing, Line


class GraphStep(CamelCaseSerializer):
    """One module of a task."""

    path = serializers.CharField(
        help_text="As in a run's `stepPath`, without turns: `refine.draft.main`."
    )
    module = serializers.CharField()


class GraphNode(CamelCaseSerializer):
    """A task's box; lengths are CSS pixels, `x` and `y` its upper left corner."""

    path = serializers.CharField(help_text="Without turns: `refine.draft` stands in `refine`.")
    title = serializers.CharField()
    module = serializers.CharField(help_text="Its first step's.")
    container = serializers.ChoiceField(CONTAINERS, help_text="Its body's nodes lie within it.")
    parent = serializers.CharField(  # type: ignore[assignment]
        help_text="The container it stands in.", allow_blank=True
    )
    steps = GraphStep(many=True, help_text="The chain of modules it is made of.")
    x = serializers.FloatField()
    y = serializers.FloatField()
    w = serializers.FloatField()
    h = serializers.FloatField()


class GraphEdge(CamelCaseSerializer):
    """A line from one node to another."""

    # `from` is a keyword; serializers take such names from a mapping.
    to = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]
        allow_blank=True, help_text='The outcome on which it is taken; "" is success.'
    )
    points = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="Where it runs, as [x, y], from the one node's right side to the other's left.",
    )

    def get_fields(self) -> Any:
        """With `from`, first."""
        return {"from": serializers.CharField(), **super().get_fields()}


class GraphSize(CamelCaseSerializer):
    """How large the drawing is."""

    width = serializers.FloatField()
    height = serializers.FloatField()


class GraphShape(CamelCaseSerializer):
    """The graph of the version that an execution runs, laid out."""

    versionId = serializers.UUIDField()
    nodes = GraphNode(many=True, help_text="Containers before what stands in them.")
    edges = GraphEdge(many=True)
    size = GraphSize()


def shown(drawing: Drawing) -> dict[str, Any]:
    """A drawing as `GraphShape` has it; coordinates to a tenth."""
    return {
        "nodes": [_node(box) for box in drawing.boxes],
        "edges": [_edge(line) for line in drawing.lines],
        "size": {"width": round(drawing.width, 1), "height": round(drawing.height, 1)},
    }


def _node(box: Box) -> dict[str, Any]:
    return {
        "path": box.path,
        "title": box.title,
        "module": box.steps[0][1],
        "container": box.container,
        "parent": box.parent,
        "steps": [{"path": path, "module": module} for path, module in box.steps],
        **{name: round(getattr(box, name), 1) for name in "xywh"},
    }


def _edge(line: Line) -> dict[str, Any]:
    return {
        "from": line.source,
        "to": line.target,
        "label": line.on,
        "points": [[round(x, 1), round(y, 1)] for x, y in line.points],
    }
