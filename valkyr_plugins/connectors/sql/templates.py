"""Refuses templates in the text of a statement, when a workflow is published."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.public.definitions import ConfigProblem

MARKS = ("{{", "{%")
SENTENCE = (
    "a statement holds no templates, or data could become SQL: write :name in it, and the template "
    "under params"
)


def template_problems(config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    """A problem for each text of a statement in a `with` that holds a template."""
    if _has_template(config.get("statement")):
        yield ConfigProblem(("statement",), "template_not_allowed", SENTENCE)
    statements = config.get("statements")
    if _has_template(statements):
        yield ConfigProblem(("statements",), "template_not_allowed", SENTENCE)
    for number, item in enumerate(statements if isinstance(statements, list) else ()):
        pointer = ("statements", number)
        if _has_template(item):
            yield ConfigProblem(pointer, "template_not_allowed", SENTENCE)
        elif isinstance(item, Mapping) and _has_template(item.get("statement")):
            yield ConfigProblem((*pointer, "statement"), "template_not_allowed", SENTENCE)


def _has_template(value: Any) -> bool:
    return isinstance(value, str) and any(mark in value for mark in MARKS)
