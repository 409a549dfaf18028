"""Render the labels of new executions; omit and report a label that cannot be rendered.

A label describes an execution and decides nothing, so a payload is never rejected because of a
label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from executions import payloads
from executions.definition.graph.model import LabelTemplate
from executions.definition.graph.schema_parts import MAX_LABEL_VALUE
from executions.definition.templates import WEB, RenderBudget, TemplateError
from executions.definition.templating import render_guard
from executions.errors import PayloadError

# Number of payloads that share the budget of one rendering, so that a batch has at most ten
# budgets.
TOGETHER = 100
MAX_REASON = 200


class BadValue(Exception):
    """A rendered value cannot be a label; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class RenderedLabels:
    """The labels of each new execution (None if it has none), and the problems of labels.

    `problems` maps the name of each label that could not be rendered to the first reason.
    """

    each: Sequence[Mapping[str, str] | None]
    problems: Mapping[str, str] = field(default_factory=dict)


def render_all(labels: Sequence[LabelTemplate], payload_list: Sequence[Any]) -> RenderedLabels:
    """Return the labels of each payload's execution; invalid labels are omitted and reported."""
    if not labels:
        return RenderedLabels([None] * len(payload_list))
    problems: dict[str, str] = {}
    found: list[Mapping[str, str] | None] = []
    with render_guard.allowed():
        for number, payload in enumerate(payload_list):
            if number % TOGETHER == 0:
                budget = RenderBudget(profile=WEB)
                budget.resume()
            found.append(_rendered(labels, payload, budget, problems) or None)
    return RenderedLabels(found, problems)


def _rendered(
    labels: Sequence[LabelTemplate],
    payload: Any,
    budget: RenderBudget,
    problems: dict[str, str],
) -> dict[str, str]:
    found: dict[str, str] = {}
    for label in labels:
        try:
            text = _text(label.value.render({"input": payload}, budget))
        except (TemplateError, PayloadError, BadValue, UnicodeError) as error:
            problems.setdefault(label.name, str(error)[:MAX_REASON])
            continue
        if text:
            found[label.name] = text
    return found


def _text(value: Any) -> str:
    """Return a value as text; "" for null. Raises BadValue, PayloadError or UnicodeEncodeError."""
    if value is None:
        return ""
    if isinstance(value, list | dict):
        raise BadValue("The value is a list or an object; a label is a text, number or boolean.")
    text = value if isinstance(value, str) else payloads.dump(value, "label")
    if len(text) > MAX_LABEL_VALUE:
        raise BadValue(f"The value has {len(text):,} characters; at most {MAX_LABEL_VALUE}.")
    text.encode()  # raises UnicodeEncodeError for a lone surrogate
    if "\x00" in text:
        raise BadValue("The value contains a NUL character, which PostgreSQL cannot store.")
    return text
