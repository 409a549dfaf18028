"""A credential is named beside the module that takes it, and by no other."""

from collections.abc import Iterator

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry


def credential_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Modules of this body with a credential that they would never look at."""
    for task in body.tasks:
        for module in task.modules:
            yield from _not_taken(module)


def _not_taken(module: ModuleEntry) -> Iterator[DefinitionProblem]:
    spec = module.spec
    if spec is None or spec.credential or module.document.get("credential") is None:
        return
    also = " (its `with` may name secrets)" if spec.takes_secrets else ""
    message = f'"{module.type}" takes no credential{also}; take "credential" out'
    yield problem((*module.pointer, "credential"), "no_credential", message)
