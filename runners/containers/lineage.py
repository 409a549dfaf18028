"""Which executions the steps of an execution started."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from executions.models import WorkflowExecution
from runners.models import Run

SUBWORKFLOW = "flow.subworkflow"


@dataclass(frozen=True, slots=True)
class Child:
    """A child execution, its state and its workflow's name."""

    id: UUID
    state: str
    workflow: str


def children_of(execution_id: UUID, runs: Iterable[Run]) -> dict[UUID, Child]:
    """The child of each of these runs of one execution that has one, by run; at most one query.

    Reads `progress` of steps that call a workflow: load it with them.
    """
    calls = {run.pk: run.progress or {} for run in runs if run.module == SUBWORKFLOW}
    if not calls:
        return {}
    # The keys under which `calling` starts children, so that those nobody waits for are found too.
    by_key = {f"child:{pk}": pk for pk in calls}
    by_child = {facts["executionId"]: pk for pk, facts in calls.items() if "executionId" in facts}
    found = WorkflowExecution.objects.filter(
        Q(pk__in=list(by_child)) | Q(parent_id=execution_id, idempotency_key__in=list(by_key))
    ).values_list("pk", "state", "workflow__name", "idempotency_key")
    made: dict[UUID, Child] = {}
    for pk, state, workflow, key in found:
        run: Any = by_child.get(str(pk)) or by_key.get(key or "")
        if run is not None:
            made[run] = Child(pk, state, workflow)
    return made
