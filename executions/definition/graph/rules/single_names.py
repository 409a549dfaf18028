"""Templates that see one name only: a concurrency key, an event's filter."""

from collections.abc import Iterator
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.templates import inspect_template
from executions.definition.templating.errors import Pointer


def single_name_problems(
    value: Any, pointer: Pointer, name: str, code: str, reason: str
) -> Iterator[DefinitionProblem]:
    """What is wrong with a template that may read `name` alone; `reason` ends the sentence."""
    template, mistakes = inspect_template(value)
    for mistake in mistakes:
        yield problem((*pointer, *mistake.pointer), mistake.code, mistake.message)
    for root in sorted({reference[0] for reference in template.references} - {name}):
        yield problem(pointer, code, f'"{root}" cannot be read here, only "{name}": {reason}')
