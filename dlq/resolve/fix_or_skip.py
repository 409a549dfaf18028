"""Set the result of a dead letter's step manually, or skip the step; the execution continues."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from dlq.comparing.reference_runs import last_good
from dlq.models import DeadLetterEntry, Resolution
from dlq.resolve import transitions
from executions import lifecycle as executions
from executions.access.actor import Actor
from executions.database import transaction
from executions.database.ids import uuid7
from executions.definition.catalog import catalog
from executions.definition.graph.places import undoes
from executions.models import WorkflowExecution
from runners.models import Run
from runners.repair import manual_results


def fix(
    entry_id: UUID,
    outputs: Any,
    *,
    actor: Actor,
    outcome: str | None = None,
    notes: str = "",
) -> Run:
    """Record and return a new, successful run of the dead step with `outputs`; execute nothing.

    A step whose module chooses the next steps also needs an `outcome`. Later steps read the given
    outputs; the audit trail names the user. Raises NotFound, WrongState as `requeue` does, and the
    errors of `manual_results.check` and `put_away`.
    """
    entry = transitions.find(entry_id)
    transitions.must_be_open(entry, "fixed")
    version_id = WorkflowExecution.objects.values_list("version_id", flat=True).get(
        pk=entry.execution_id
    )
    given = manual_results.check(version_id, entry.step_path, outputs, outcome, _note(entry, actor))
    given = manual_results.put_away(entry.workspace_id, entry.execution_id, given)
    run_id = uuid7()
    with transaction.atomic():
        execution = executions.reopen(
            entry.execution_id,
            workspace_id=entry.workspace_id,
            undoing=undoes(entry.step_path),
        )
        manual_results.give(execution, entry.run_id, run_id=run_id, given=given)
        transitions.resolve(
            entry,
            Resolution.FIXED,
            actor=actor,
            notes=notes,
            details={"runId": str(run_id), "outcome": given.outcome},
            requeued_run_id=run_id,
        )
        executions.announce(execution)
    return Run.objects.get(pk=run_id)


def _note(entry: DeadLetterEntry, actor: Actor) -> str:
    return f"Not executed: {actor.name} gave this result (dead letter {entry.pk})."


# Skip a dead letter: its execution continues without the result of the step's task.


def skip(entry_id: UUID, *, actor: Actor, reason: str = "") -> Run:
    """Record the dead step as skipped, and continue the execution without its task's outcome.

    The rest of the task does not run. A task that follows a skipped task is skipped too, unless it
    has `join: any` and another edge into it is taken. Raises NotFound, and WrongState as `requeue`
    does.
    """
    entry = transitions.find(entry_id)
    transitions.must_be_open(entry, "skipped")
    run_id = uuid7()
    note = f"Skipped by {actor.name} (dead letter {entry.pk})."
    with transaction.atomic():
        execution: WorkflowExecution = executions.reopen(
            entry.execution_id,
            workspace_id=entry.workspace_id,
            undoing=undoes(entry.step_path),
        )
        manual_results.skip(execution, entry.run_id, run_id=run_id, note=note)
        transitions.resolve(
            entry,
            Resolution.SKIPPED,
            actor=actor,
            notes=reason,
            details={"runId": str(run_id)},
            requeued_run_id=run_id,
        )
        executions.announce(execution)
    return Run.objects.get(pk=run_id)


# A template of a step's outputs: the last successful outputs, or the structure of the schema.


DEEP = 6
BLANKS: Mapping[str, Any] = {
    "string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {},
    "null": None,
}  # fmt: skip


def outputs_template(entry: DeadLetterEntry, *, with_payloads: bool) -> tuple[Any, str]:
    """Return outputs to fill in, and a sentence on their origin; (None, "") if nothing is known.

    Outputs of another run are used only with `with_payloads`.
    """
    if with_payloads:
        good = last_good(entry).good
        if good is not None and good.run.outputs is not None:
            origin = f"These are the outputs of the last successful run (version {good.version})."
            return good.run.outputs, origin
    spec = catalog().get(entry.module)
    if spec is None or spec.outputs_schema is None:
        return None, ""
    return shape(dict(spec.outputs_schema)), (
        f"They have the structure of the output of {entry.module}."
    )


def shape(schema: Mapping[str, Any]) -> Any:
    """Return a minimal value with the structure, the examples and the defaults of a JSON schema."""
    return _shape(schema, schema.get("$defs", {}), DEEP)


def _shape(schema: Any, known: Mapping[str, Any], deep: int) -> Any:
    if not isinstance(schema, Mapping) or deep == 0:
        return None
    followed = _followed(schema, known)
    if followed is not None:
        return _shape(followed, known, deep - 1)
    for given in (schema.get("enum"), schema.get("examples")):
        if given:
            return given[0]
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        wanted = schema.get("required", list(properties))
        return {name: _shape(properties.get(name), known, deep - 1) for name in wanted}
    return schema.get("const", schema.get("default", BLANKS.get(str(schema.get("type")))))


def _followed(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    """Return the target of `$ref`, or the first alternative without one; None if neither exists."""
    if "$ref" in schema:
        return known.get(str(schema["$ref"]).rpartition("/")[2])
    options = schema.get("anyOf") or schema.get("oneOf")
    return options[0] if options else None
