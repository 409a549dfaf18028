"""Past executions with their runs, loaded in batches of 25, with a few queries per batch.

A batch is loaded in parts of bounded size, so that large payloads do not add up in memory.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Count, F, Func, IntegerField, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from executions.public.database import in_states
from executions.public.graphs import Compiled, compiled, undoes
from executions.public.models import FINAL, VersionKind, WorkflowExecution
from executions.public.sealing import SealingError
from runners.public.models import Run
from valkyr_plugins.backtest.models import Backtest

BATCH = 25  # executions that are read at once
MAX_RUNS = 5_000  # maximum runs of one execution
PART_BYTES = 4 * 1024 * 1024  # maximum payloads read at once, as stored: PostgreSQL compresses them
MAX_BYTES = 16 * 1024 * 1024  # maximum payloads of one execution
# The states in the condition of the index `execution_ended_badly`.
FAILURES = frozenset({"FAILED", "TIMEOUT", "CANCELLED"})
COLUMNS = (
    "execution_id", "step_path", "module", "attempt", "state", "outcome", "inputs_hash",
    "config_hash", "idempotency_key", "overrides", "inputs", "outputs", "error", "error_type",
    "finished_at",
)  # fmt: skip


@dataclass(slots=True)
class RecordedExecution:
    """A finished execution, with the attempts of each of its steps in order.

    `problem` says why the execution cannot be compared (TOO_LARGE or SEALED), or is empty.
    """

    execution: WorkflowExecution
    version: Compiled
    attempts: dict[str, list[Run]] = field(default_factory=dict)
    input: Any = None
    output: Any = None
    problem: str = ""


def selected(backtest: Backtest) -> QuerySet[WorkflowExecution]:
    """Return the finished executions that are still to be compared, newest first.

    Test runs and forks are omitted. If only failed, timed-out or cancelled executions are selected,
    they are read from the index of failures, which is ordered by ID. IDs begin with the time.
    """
    selection = backtest.selection
    states = set(selection.get("states") or FINAL)
    rows = WorkflowExecution.objects.filter(
        in_states(*states),
        workflow_id=backtest.workflow_id,
        version__kind=VersionKind.PUBLISHED,
        origin_point="",
        finished_at__lte=backtest.created_at,
    )
    bounds = {"created_at__gte": "from", "created_at__lt": "until", "version__number": "version"}
    rows = rows.filter(**{name: selection[key] for name, key in bounds.items() if key in selection})
    older = Q(pk__lt=backtest.at)
    if states <= FAILURES:
        rows = rows.filter(workspace_id=backtest.workspace_id).order_by("-id")
    else:
        rows = rows.order_by("-created_at", "-id")
        older = Q(created_at__lt=backtest.at_time) | Q(created_at=backtest.at_time) & older
    return rows if backtest.at is None else rows.filter(older)


def load(rows: Sequence[WorkflowExecution]) -> Iterator[RecordedExecution]:
    """Yield executions with their runs, in the given order; omit a large execution's runs.

    The runs are loaded in parts of limited size.
    """
    sizes = _sizes([row.pk for row in rows])
    part: list[WorkflowExecution] = []
    total = 0
    for row in rows:
        runs, size = sizes.get(row.pk, (0, 0))
        large = runs > MAX_RUNS or size > MAX_BYTES
        if large or total + size > PART_BYTES:
            yield from _loaded(part)
            part, total = [], 0
        if large:
            yield RecordedExecution(row, compiled(row.version_id), problem="TOO_LARGE")
            continue
        part.append(row)
        total += size
    yield from _loaded(part)


def _sizes(ids: list[UUID]) -> dict[UUID, tuple[int, int]]:
    """Return the number of runs of each execution and the stored bytes of their inputs and outputs.

    The result is keyed by execution ID. Uses one query.
    """
    sizes = [
        Func(F(name), function="pg_column_size", output_field=IntegerField())
        for name in ("inputs", "outputs")
    ]
    each = Coalesce(sizes[0], 0) + Coalesce(sizes[1], 0)
    rows = Run.objects.filter(execution_id__in=ids, superseded=False).order_by()
    found = rows.values_list("execution_id").annotate(many=Count("id"), size=Sum(each))
    return {pk: (many, size or 0) for pk, many, size in found}


def _loaded(part: Sequence[WorkflowExecution]) -> Iterator[RecordedExecution]:
    if not part:
        return
    attempts: dict[UUID, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    runs = Run.objects.filter(execution_id__in=[row.pk for row in part], superseded=False)
    for run in runs.only(*COLUMNS).order_by("execution_id", F("attempt"), "id"):
        if not undoes(run.step_path):
            attempts[run.execution_id][run.step_path].append(run)
    for row in part:
        yield _opened(RecordedExecution(row, compiled(row.version_id), dict(attempts[row.pk])))


def _opened(record: RecordedExecution) -> RecordedExecution:
    """Open the record's payloads; set the problem SEALED if a payload cannot be opened."""
    try:
        record.input = record.execution.trigger_payload
        record.output = record.execution.output
        for runs in record.attempts.values():
            for run in runs:
                _ = run.inputs, run.outputs, run.error, run.overrides
    except (SealingError, ImproperlyConfigured):
        record.problem = "SEALED"
    return record
