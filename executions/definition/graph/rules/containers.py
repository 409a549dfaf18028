"""Rules for containers: loops must be limited and able to end; sub-workflow slugs must be valid."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.graph.model import Limits
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry
from executions.definition.graph.schema import shown
from executions.definition.graph.schema_parts import MAX_WORKFLOW_SLUG, SLUG
from executions.definition.templates import has_template, inspect_template
from executions.definition.templating.expression import Reference

CONDITIONS = ("while", "until")
# Names whose values do not change, or whose mistakes are reported elsewhere.
STEADY = frozenset({"input", "execution", "item", "index"})


def loop_problems(
    body: BodyReading, variables: Mapping[str, Any], limits: Limits
) -> Iterator[DefinitionProblem]:
    """Yield problems for this body's loops that allow too many iterations or can never end."""
    for task in body.tasks:
        if task.container == "loop" and len(task.modules) == 1:
            module = task.modules[0]
            if module.sound and module.config is not None:
                yield from _limit(module, module.config, limits)
                yield from _endless(task, module, module.config, variables)


def _limit(
    module: ModuleEntry, config: Mapping[str, Any], limits: Limits
) -> Iterator[DefinitionProblem]:
    asked, most = config.get("maxIterations"), limits.loop_limit_condition
    if isinstance(asked, int | float) and asked > most:
        message = (
            f"a loop with a condition may have at most {most:,} iterations here, found {asked:,}; "
            "the setting LOOP_LIMIT_CONDITION allows more"
        )
        yield problem((*module.pointer, "with", "maxIterations"), "loop_limit", message)


def _endless(
    task: TaskEntry, module: ModuleEntry, config: Mapping[str, Any], variables: Mapping[str, Any]
) -> Iterator[DefinitionProblem]:
    if task.body is None or not task.body.tasks:
        return
    for key in CONDITIONS:
        if config.get(key) is None:
            continue
        template, mistakes = inspect_template(config[key])
        written = written_variables(task.body)
        if mistakes or any(
            _may_change(reference, task.body, variables, written)
            for reference in template.references
        ):
            continue
        message = (
            f'the loop "{task.id}" can never end: "{key}" reads no value that an '
            "iteration changes; use a task of the body, loop.index, or a variable that the "
            "body sets"
        )
        yield problem((*module.pointer, "with", key), "endless_loop", message)


def _may_change(
    reference: Reference,
    body: BodyReading,
    variables: Mapping[str, Any],
    written: frozenset[str] | None,
) -> bool:
    """Return whether an iteration may change the reference's value; True if that is unknown."""
    root, names = reference[0], reference[1:]
    if root == "tasks" and names:
        outside = body.outside.around() if body.outside is not None else ()
        return names[0] in body.by_id or not any(names[0] in one.by_id for one in outside)
    if root == "vars":
        if written is None or (names and names[0] not in variables):
            return True
        return names[0] in written if names else bool(written)
    return root not in STEADY


def written_variables(body: BodyReading) -> frozenset[str] | None:
    """Return the variables that the body's steps set, at any depth; None if unknown."""
    names: set[str] = set()
    for inner in body.everywhere():
        for module in (module for task in inner.tasks for module in task.modules):
            if module.spec is None:
                return None
            if module.spec.writes_variables:
                values = (module.config or {}).get("values")
                if not isinstance(values, dict):
                    return None
                names |= values.keys()
    return frozenset(names)


SUBWORKFLOW = "flow.subworkflow"
KEY = "workflow"


def subworkflow_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield a problem for each invalid literal slug of a sub-workflow.

    When the step runs, it checks that the workflow exists.
    """
    for module in (module for task in body.tasks for module in task.modules):
        if module.type != SUBWORKFLOW or module.spec is None or not module.sound:
            continue
        slug = (module.config or {}).get(KEY)
        if not isinstance(slug, str) or has_template(slug):
            continue
        if len(slug) > MAX_WORKFLOW_SLUG or re.fullmatch(SLUG, slug) is None:
            message = (
                f"expected the slug of a workflow (letters, digits, _ and -, at most "
                f"{MAX_WORKFLOW_SLUG}), found {shown(slug)}"
            )
            yield problem((*module.pointer, "with", KEY), "bad_slug", message)
