"""Record a failed step's result manually, or skip the step; neither executes the step."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from uuid import UUID

from executions import payloads
from executions.database.clock import ClockTimestamp
from executions.definition.catalog import catalog
from executions.definition.graph.model import Graph, Step
from executions.definition.graph.places import find
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.json_schema.budget import REQUEST, BudgetExceeded, EvaluationBudget
from executions.definition.json_schema.checking import mistakes, validator
from executions.definition.patterns import TooMuchWork
from executions.definition.versions import compiled
from executions.errors import WithProblems
from executions.models import WorkflowExecution
from executions.sealing.sealer import PayloadSealer
from executions.triggers.stored_input import row_of
from runners import statements
from runners.models import Run
from runners.repair import changed_inputs
from runners.repair.permissions import refuse_given_result
from runners.repair.reruns import newest_dead
from runners.states import RunState

MAX_PROBLEMS = 100


class ResultRefused(WithProblems):
    """The step cannot have the given result."""

    code = "invalid_result"


@dataclass(frozen=True, slots=True)
class Given:
    """A valid manual result of a step; `note` names its author."""

    outputs: Any
    outcome: str
    variables: str  # the variables that the step writes, as canonical JSON; "" if it writes none
    note: str


def check(version_id: UUID, step_path: str, outputs: Any, outcome: str | None, note: str) -> Given:
    """Return the validated result for a step of this version.

    A missing value becomes null if the module allows null. Raises ResultRefused, which lists the
    problems: outputs that violate the module's output schema, an outcome that the step cannot have,
    and variables that the workflow does not declare. Raises ApprovalNeeded for an approval, and
    PayloadError for outputs that cannot be stored.
    """
    graph = compiled(version_id).graph
    _, step = find(graph, step_path)
    refuse_given_result(step.module, step_path)
    outputs = _completed(step.module, outputs)
    payloads.dump(outputs, f"output of step {step_path}")
    problems = [
        *_schema_problems(step.module, outputs),
        *_outcome_problems(step, outcome),
        *(_variable_problems(graph, outputs) if step.writes_variables else ()),
    ]
    if problems:
        raise ResultRefused(f"Step {step_path} cannot have this result.", problems)
    changes = payloads.dump(outputs, "variables") if step.writes_variables else ""
    return Given(outputs, outcome or "success", changes, note)


def put_away(workspace_id: UUID, execution_id: UUID, given: Given) -> Given:
    """Return a result with references in place of its large output or its large variables.

    Call it before the transaction of `give`. Raises PayloadStoreUnavailable and the errors of
    sealing.
    """
    if not given.variables:
        found = changed_inputs.put(workspace_id, execution_id, given.outputs)
        return replace(given, outputs=row_of(found))
    outputs = {
        name: row_of(changed_inputs.put(workspace_id, execution_id, value))
        for name, value in given.outputs.items()
    }
    return replace(given, outputs=outputs, variables=payloads.dump(outputs, "variables"))


def give(execution: WorkflowExecution, dead_run_id: UUID, *, run_id: UUID, given: Given) -> None:
    """Record the next attempt of a dead run's step as a success with the given result.

    The caller holds the execution's lock and plans the execution afterwards. Raises WrongState for
    the same reasons as `reruns.again`.
    """
    dead = newest_dead(execution, dead_run_id)
    _, step = find(compiled(execution.version_id).graph, dead.step_path)
    Run.objects.create(
        pk=run_id,
        execution_id=execution.pk,
        epoch=execution.epoch,
        segment=dead.step_path,
        step_path=dead.step_path,
        task_id=step.task_uuid,
        module_id=step.module_uuid,
        module=step.module,
        attempt=dead.attempt + 1,
        budget_start=dead.attempt + 1,
        state=RunState.SUCCESS,
        queue=step.queue,
        priority=execution.priority,
        config_hash=step.config_hash,
        outputs=given.outputs,
        outcome=given.outcome,
        logs=[{"ms": 0, "level": "info", "message": given.note}],
        queued_at=ClockTimestamp(),
        started_at=ClockTimestamp(),
        finished_at=ClockTimestamp(),
        duration_ms=0,
    )
    if given.variables:
        sealer = PayloadSealer(execution.pk, execution.workspace_id)
        changes = sealer.each(given.variables, "context_data")
        told = {"execution": execution.pk, "changes": changes}
        statements.fetch("variables", told)


def _completed(module: str, outputs: Any) -> Any:
    """Return the outputs with null for each missing value that may be null, as the module does."""
    spec = catalog().get(module)
    if not isinstance(outputs, dict) or spec is None or spec.outputs_schema is None:
        return outputs
    known = spec.outputs_schema.get("properties", {})
    return {name: None for name, schema in known.items() if _may_be_null(schema)} | outputs


def _may_be_null(schema: Any) -> bool:
    return any(option.get("type") == "null" for option in schema.get("anyOf", ()))


def _schema_problems(module: str, outputs: Any) -> list[DefinitionProblem]:
    checker = _validator(module)
    if checker is None:
        return []
    try:
        found = mistakes(checker, outputs, EvaluationBudget(REQUEST), MAX_PROBLEMS)
    except (BudgetExceeded, TooMuchWork) as error:
        return [DefinitionProblem("outputs", "budget", str(error))]
    except RecursionError:
        return [DefinitionProblem("outputs", "depth", "The outputs are nested too deeply.")]
    return [
        DefinitionProblem(_path("outputs", one.path), one.rule, one.message[:500]) for one in found
    ]


@lru_cache(maxsize=256)
def _validator(module: str) -> Any:
    """Return the validator of a module's outputs; None if the module declares no outputs."""
    spec = catalog().get(module)
    if spec is None or spec.outputs_schema is None:
        return None
    return validator(dict(spec.outputs_schema))


def _outcome_problems(step: Step, outcome: str | None) -> list[DefinitionProblem]:
    names = step.outcomes or ("success",)
    if outcome in names or (outcome is None and not step.outcomes):
        return []
    listed = ", ".join(f'"{name}"' for name in names)
    if outcome is None:
        message = f"This step chooses a branch; set its outcome: {listed}."
        return [DefinitionProblem("outcome", "outcome_required", message)]
    message = f'The step has no outcome "{outcome}", only {listed}.'
    return [DefinitionProblem("outcome", "unknown_outcome", message)]


def _variable_problems(graph: Graph, outputs: Any) -> list[DefinitionProblem]:
    if not isinstance(outputs, dict):
        message = "This step writes variables: expected an object of their names and values."
        return [DefinitionProblem("outputs", "object", message)]
    known = ", ".join(graph.variables) or "none"
    return [
        DefinitionProblem(f"outputs.{name}", "unknown_variable", f"Declared variables: {known}.")
        for name in outputs
        if name not in graph.variables
    ][:MAX_PROBLEMS]


def _path(start: str, parts: Any) -> str:
    return start + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts)


# Skip a dead step for a user: record it as skipped, and continue the graph without it.


def skip(execution: WorkflowExecution, dead_run_id: UUID, *, run_id: UUID, note: str) -> None:
    """Record the next attempt of a dead run's step as skipped.

    The step's task ends there, without the later steps of its chain. No edge out of the task is
    taken, so a task that follows is also skipped, unless it has `join: any` and another edge into
    it is taken. The caller holds the execution's lock and plans the execution afterwards. Raises
    WrongState as `reruns.again` does.
    """
    dead = newest_dead(execution, dead_run_id)
    _, step = find(compiled(execution.version_id).graph, dead.step_path)
    Run.objects.create(
        pk=run_id,
        execution_id=execution.pk,
        epoch=execution.epoch,
        segment=dead.step_path,
        step_path=dead.step_path,
        task_id=step.task_uuid,
        module_id=step.module_uuid,
        module=step.module,
        attempt=dead.attempt + 1,
        budget_start=dead.attempt + 1,
        state=RunState.SKIPPED,
        queue=step.queue,
        priority=execution.priority,
        config_hash=step.config_hash,
        logs=[{"ms": 0, "level": "info", "message": note}],
        queued_at=ClockTimestamp(),
        started_at=ClockTimestamp(),
        finished_at=ClockTimestamp(),
    )
