"""The regular expressions in a schema, with their places."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.json_schema.budget import EvaluationBudget, spending
from executions.definition.patterns import BadPattern, pattern, shown

# Keywords whose values are data, not schemas.
DATA_KEYWORDS = frozenset({"const", "enum", "default", "examples"})

Pointer = tuple[str | int, ...]


def bad_patterns(schema: Any) -> Iterator[tuple[Pointer, BadPattern]]:
    """Yield each pattern that cannot be matched, with its place and why."""
    pending: list[tuple[Pointer, Any]] = [((), schema)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            for place, text in _patterns(value):
                try:
                    pattern(text)
                except BadPattern as error:
                    reason = f"{shown(text)} cannot be used as a regular expression: {error}"
                    yield (*pointer, *place), BadPattern(reason)
            pending += [((*pointer, k), v) for k, v in value.items() if k not in DATA_KEYWORDS]
        elif isinstance(value, list):
            pending += [((*pointer, place), item) for place, item in enumerate(value)]


def check_patterns(schema: Any, budget: EvaluationBudget) -> None:
    """Raise the first BadPattern of a schema, with its place; BudgetExceeded for too many."""
    with spending(budget):
        first = next(bad_patterns(schema), None)
    if first is not None:
        pointer, error = first
        raise BadPattern(f"{error} (at {'.'.join(map(str, pointer))})")


def _patterns(schema: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    if isinstance(schema.get("pattern"), str):
        yield ("pattern",), schema["pattern"]
    patterns = schema.get("patternProperties")
    for text in patterns if isinstance(patterns, dict) else ():
        yield ("patternProperties", text), text
