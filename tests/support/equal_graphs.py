"""Documents without the parts that do not affect the graph: the order of tasks and edges, and
`ui`.
"""

from collections.abc import Mapping
from typing import Any

from executions.definition.graph.document import normalise
from executions.definition.graph.resolve import _without_ui
from executions.definition.templates import ExpressionText, has_template, split
from executions.definition.templating.sandbox import ENVIRONMENT

Document = Mapping[str, Any]


def graph_of(document: Document, *, inputs: bool = True) -> dict[str, Any]:
    """Return a document that equals another if and only if both run in the same way.

    Templates compare by their parsed form. Without `inputs`, the schema of the payload is left out.
    """
    found = _body(_without_ui(normalise(dict(document))))
    left_out = {"ui"} if inputs else {"ui", "input"}
    return {key: one for key, one in found.items() if key not in left_out}


def _body(body: Document) -> dict[str, Any]:
    edges = sorted({(one["from"], one["on"], one["to"]) for one in body.get("edges", [])})
    into = [target for _, _, target in edges]
    tasks = {one["id"]: _task(one, into.count(one["id"])) for one in body["tasks"]}
    rest = {key: _value(one) for key, one in body.items() if key not in ("tasks", "edges")}
    return {**rest, "tasks": tasks, "edges": edges}


def _task(task: Document, edges: int) -> dict[str, Any]:
    found = {key: _value(one) for key, one in task.items() if key != "body"}
    if edges < 2 or found.get("join") == "any":
        found.pop("join", None)
    if "body" in task:
        found["body"] = _body(task["body"])
    return found


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {key: _value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_value(one) for one in value]
    return value


def _text(text: str) -> Any:
    if not has_template(text):
        return text
    return [
        repr(ENVIRONMENT.parse("{{ " + part.source + " }}"))
        if isinstance(part, ExpressionText)
        else part
        for part in split(text)
    ]
