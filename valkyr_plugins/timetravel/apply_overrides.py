"""A fork's variables and first steps are changed, as its caller asked for."""

from collections.abc import Iterable, Mapping
from typing import Any

from executions.public.definitions import DefinitionProblem
from executions.public.errors import InvalidPayload, PayloadError, WithProblems
from executions.public.graphs import compiled
from executions.public.models import WorkflowExecution
from executions.public.values import payloads
from runners.public.forks import insert_first, refuse_other_inputs
from runners.public.models import Run
from runners.public.rendering import merged

MAX_NAMED = 100
MAX_VARIABLES_BYTES = 1024 * 1024


class InvalidFork(WithProblems):
    """The fork cannot begin there, or not with these overrides."""

    code = "invalid_fork"


def changed_variables(
    made: WorkflowExecution,
    variables: dict[str, Any],
    changes: Mapping[str, Any],
    *,
    named: bool,
) -> dict[str, Any]:
    """The variables that the fork's version declares, with the changes merged in.

    `named` is whether errors may name variables. Raises InvalidFork, InvalidPayload.
    """
    declared = compiled(made.version_id).graph.variables
    unknown = sorted(set(changes) - set(declared))
    if unknown:
        known = f"The workflow declares: {', '.join(sorted(declared)) or 'no variables'}."
        raise InvalidFork(
            "Some variables are not declared by the workflow.",
            [
                DefinitionProblem(
                    f"overrides.variables.{name}",
                    "unknown_variable",
                    known if named else "The workflow does not declare it.",
                )
                for name in unknown[:MAX_NAMED]
            ],
        )
    changed = {name: variables[name] for name in variables if name in declared}
    # A null is a value here: a declared variable cannot be removed.
    changed |= {
        name: value if value is None else merged(changed.get(name), value)
        for name, value in changes.items()
    }
    try:
        payloads.dump(changed, "variables", MAX_VARIABLES_BYTES)
    except PayloadError as error:
        raise InvalidPayload(
            error.message, [DefinitionProblem("overrides.variables", error.code, error.message)]
        ) from error
    return changed


def override_steps(
    made: WorkflowExecution, steps: Mapping[str, Mapping[str, Any]], *, named: bool
) -> None:
    """Plan what the fork begins with, and give those steps their changed inputs."""
    insert_first(made)
    rows = Run.objects.filter(execution_id=made.pk, state="PENDING")
    ready = {
        path: (pk, module) for path, pk, module in rows.values_list("step_path", "pk", "module")
    }
    unknown = sorted(set(steps) - set(ready))
    if unknown:
        raise InvalidFork(
            "Only the inputs of steps that the fork begins with can be changed.",
            [_not_first(path, ready if named else ()) for path in unknown[:MAX_NAMED]],
        )
    for path in sorted(steps):
        refuse_other_inputs(ready[path][1], path)
    for path, inputs in steps.items():
        Run.objects.filter(pk=ready[path][0]).update(overrides={"inputs": dict(inputs)})


def _not_first(path: str, first: Iterable[str]) -> DefinitionProblem:
    """The problem with a step that the fork does not begin with; `first` are those that it does."""
    some = ", ".join(sorted(first)[:10])
    return DefinitionProblem(
        f"overrides.steps.{path}",
        "not_first",
        f"The fork does not begin with step {path}{f'; it begins with: {some}' if some else ''}. "
        f"Fork from right before {path} to change its inputs. Behind an approval they cannot be "
        "changed: the fork begins with the approval.",
    )
