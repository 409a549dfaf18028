"""The runs to compare with a failed step: its last success, or another failure of its group."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from dlq.models import DeadLetterEntry
from executions.database.time_limits import soon
from executions.definition.graph.places import module_in
from executions.models import WorkflowExecution
from executions.states import ExecutionState
from runners.models import Run
from runners.states import IDENTITY

LOOKED_THROUGH = 200  # maximum number of executions
COLUMNS = (
    "id", "step_path", "inputs", "outputs", "finished_at", "execution_id", "attempt",
    "execution__id", "execution__version__number", "execution__version__definition",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Good:
    """A successful run, the number of its version, and the step's `with` in that version."""

    run: Run
    version: int
    config: Any


@dataclass(frozen=True, slots=True)
class Search:
    """The last successful run or None, and the number of newest executions searched (`looked`)."""

    good: Good | None
    looked: int


def last_good(entry: DeadLetterEntry) -> Search:
    """Find the newest success of the entry's step in executions that began before the failure.

    If the same item or iteration succeeded in none of them, the success of the first item is used.
    The newest `LOOKED_THROUGH` executions are searched. If the step succeeded in none of these, as
    in a large outage, the newest successful executions are searched, for a limited time.
    """
    rows = WorkflowExecution.objects.filter(
        workflow_id=entry.workflow_id, created_at__lte=entry.quarantined_at
    ).order_by("-created_at", "-id")
    executions = list(rows.values_list("pk", flat=True)[:LOOKED_THROUGH])
    looked = len(executions)
    first = re.sub(r"\[\d+\]", "[0]", entry.step_path)
    # The same step in the newest execution. Runs with a manual result are left out, because they
    # have no inputs.
    runs = _successes(executions, {entry.step_path, first})
    if not runs and looked == LOOKED_THROUGH:
        ended_well = rows.filter(state=ExecutionState.SUCCESS).values_list("pk", flat=True)
        executions = soon(lambda: list(ended_well[:LOOKED_THROUGH])) or []
        runs = _successes(executions, {entry.step_path, first})
    ranks = {pk: rank for rank, pk in enumerate(executions)}
    best = min(
        runs,
        key=lambda row: (row[2] != entry.step_path, ranks[row[1]]),
        default=None,
    )
    good = None if best is None else _good(best[0])
    return Search(good, looked)


def other_of_group(
    entry: DeadLetterEntry, others: QuerySet[DeadLetterEntry], wanted: UUID | None
) -> DeadLetterEntry | None:
    """Return another dead letter of the entry's group: the one with the ID `wanted`.

    If `wanted` is None, return the newest with the same fingerprint. Return None if `others` does
    not contain it.
    """
    rows = others.filter(group_id=entry.group_id).exclude(pk=entry.pk)
    if wanted is not None:
        return rows.filter(pk=wanted).first()
    # Also by fingerprint, because that index is ordered by time.
    return rows.filter(fingerprint=entry.fingerprint).order_by("-quarantined_at").first()


def _successes(executions: list[UUID], paths: set[str]) -> list[tuple[UUID, UUID, str]]:
    rows = Run.objects.filter(
        execution_id__in=executions,
        step_path__in=paths,
        superseded=False,
        state__in=sorted(IDENTITY),  # as in the index
        inputs__isnull=False,
    ).filter(state="SUCCESS")
    return list(rows.values_list("pk", "execution_id", "step_path"))


def _good(pk: UUID) -> Good:
    rows = Run.objects.select_related("execution__version").only(*COLUMNS)
    run = rows.get(pk=pk)
    version = run.execution.version
    module = module_in(version.definition, run.step_path)
    return Good(run, version.number, None if module is None else module.get("with", {}))
