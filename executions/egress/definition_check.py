"""Find the steps of a definition whose literal address the egress rules reject."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from executions.credentials.definition_check import static_place
from executions.definition.catalog import Catalog
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import ModuleEntry, count_tasks, read_body
from executions.definition.graph.schema import MAX_TASKS
from executions.definition.graph.storable import storage_problems
from executions.egress.rules import EgressRules, Verdict
from executions.egress.workspace_rules import rules_of


def unreachable(
    definition: Any, catalog: Catalog, workspace_id: UUID
) -> Iterator[DefinitionProblem]:
    """Yield a problem for each address that steps of the workspace may not connect to.

    Hosts with templates, and names that a range may allow, are checked when the step runs.
    """
    rules = rules_of(workspace_id)
    if rules is None or not isinstance(definition, dict) or storage_problems(definition):
        return
    if count_tasks(definition) > MAX_TASKS:
        return
    for body in read_body(definition, (), catalog).everywhere():
        for task in body.tasks:
            for module, _ in task.steps:
                yield from _refused(module, rules)


def _refused(module: ModuleEntry, rules: EgressRules) -> Iterator[DefinitionProblem]:
    for key in module.spec.addresses if module.spec is not None else ():
        place = static_place((module.config or {}).get(key))
        if place is None or rules.verdict(*place) is not Verdict.REFUSED:
            continue
        host, port = place
        shown = host if port is None else f"{host}:{port}"
        yield problem((*module.pointer, "with", key), "egress_refused", rules.refusal(shown))
