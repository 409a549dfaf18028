"""Find all problems of a definition, not only the first, before publishing.

The rules read well-formed parts only, so that each mistake is reported once.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from executions.definition.catalog import Catalog
from executions.definition.graph.model import DEFAULTS, Limits
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import count_tasks, read_body
from executions.definition.graph.rules.containers import loop_problems, subworkflow_problems
from executions.definition.graph.rules.input_schema import input_problems
from executions.definition.graph.rules.modules import (
    cache_problems,
    credential_problems,
    module_problems,
    queue_problems,
)
from executions.definition.graph.rules.references import (
    bodies_by_task,
    label_problems,
    settings_problems,
    template_problems,
)
from executions.definition.graph.rules.structure import (
    body_problems,
    contradictions,
    edge_problems,
    order_problems,
    path_problems,
)
from executions.definition.graph.rules.triggers import trigger_problems
from executions.definition.graph.rules.typed_reads import typed_read_warnings
from executions.definition.graph.rules.undo import undo_problems
from executions.definition.graph.schema import MAX_TASKS, shape_problems
from executions.definition.graph.storable import storage_problems
from executions.definition.json_schema.budget import one_definition
from executions.definition.templates import has_template
from executions.definition.templating.errors import Pointer

__all__ = ["MAX_PROBLEMS", "DefinitionProblem", "problems", "warnings"]

MAX_PROBLEMS = 500


def problems(document: Any, catalog: Catalog, limits: Limits = DEFAULTS) -> list[DefinitionProblem]:
    """Return all problems of a JSON value as a definition; [] if there are none.

    A document that cannot be stored or has too many tasks is not checked further. After
    MAX_PROBLEMS problems, a final one says that there are more. Problems of the schema come first,
    then those of each body, then those of the whole document.
    """
    found = storage_problems(document)
    if found:
        return found
    if not isinstance(document, dict):
        return list(shape_problems(document))
    count = count_tasks(document)
    if count > MAX_TASKS:
        message = (
            f"the workflow and its bodies have {count:,} tasks; at most {MAX_TASKS:,} are allowed"
        )
        return [problem(("tasks",), "too_many_tasks", message)]
    with one_definition():
        return _bounded(chain(shape_problems(document), _rule_problems(document, catalog, limits)))


def warnings(document: Any, catalog: Catalog) -> list[DefinitionProblem]:
    """Return possible mistakes in a definition, which do not prevent publishing.

    Returns [] for a document that is not an object, cannot be stored, or has too many tasks.
    """
    if not isinstance(document, dict) or storage_problems(document):
        return []
    if count_tasks(document) > MAX_TASKS:
        return []
    return _bounded(typed_read_warnings(document, read_body(document, (), catalog)))


def _bounded(found: Iterator[DefinitionProblem]) -> list[DefinitionProblem]:
    """Return each problem once; after MAX_PROBLEMS, a final one says that there are more."""
    kept: dict[DefinitionProblem, None] = {}
    for one in found:
        if len(kept) == MAX_PROBLEMS:
            message = f"there are more than {MAX_PROBLEMS:,} problems; the first are shown"
            return [*kept, problem((), "too_many_problems", message)]
        kept[one] = None
    return list(kept)


def _rule_problems(
    document: Mapping[str, Any], catalog: Catalog, limits: Limits
) -> Iterator[DefinitionProblem]:
    declared = document.get("variables")
    variables = declared if isinstance(declared, dict) else {}
    reading = read_body(document, (), catalog)
    elsewhere = bodies_by_task(reading)
    for body in reading.everywhere():
        yield from module_problems(body, catalog, variables)
        yield from body_problems(body)
        yield from loop_problems(body, variables, limits)
        yield from queue_problems(body, limits)
        yield from cache_problems(body)
        yield from credential_problems(body)
        yield from subworkflow_problems(body)
        yield from edge_problems(body, elsewhere)
        yield from order_problems(body)
        yield from contradictions(body)
        yield from undo_problems(body)
    yield from path_problems(reading)
    yield from template_problems(document, reading, variables)
    yield from _templates_in_defaults(variables)
    yield from settings_problems(document)
    yield from label_problems(document)
    yield from input_problems(document)
    yield from trigger_problems(document)


def _templates_in_defaults(variables: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield a problem for each template in a default, since there is no data to refer to yet."""
    pending: list[tuple[Pointer, Any]] = [(("variables", key), variables[key]) for key in variables]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, str) and has_template(value):
            message = (
                "a variable's default must be a literal value, because templates are not rendered "
                "here"
            )
            yield problem(pointer, "template_not_allowed", message)
        elif isinstance(value, dict):
            pending += [((*pointer, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            pending += [((*pointer, index), item) for index, item in enumerate(value)]
