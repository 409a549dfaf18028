"""Run executions as far as possible in this process, from their rows and without messages.

Each segment is run by the function that a worker's task calls. For other messages (children's ends,
events, admission, planning after a fan-out), the kit calls their functions directly.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from unittest.mock import patch
from uuid import UUID

from django.db.models import Q

from executions.admission.capacity import admit
from executions.database.clock import database_now
from executions.definition.limits import limits
from executions.models import Event, WorkflowExecution
from executions.states import FINAL, ExecutionState
from runners.containers import child_executions
from runners.dispatch import messages
from runners.errors import LeaseLost, StepFailed
from runners.models import Run
from runners.modules import registry
from runners.pipeline import receive
from runners.planning import plan_execution
from runners.recovery.sweeper import executions, waits
from runners.states import RunState, WaitKind
from runners.testing.answers import Answers, keys, wrapped
from runners.waits import events

MOST_ROUNDS = 10_000

PENDING_FIELDS = (
    "execution__version_id", "segment", "lease_token", "queue", "step_path", "module",
)  # fmt: skip

Pending = tuple[UUID, UUID, UUID, str, int]  # run, execution, version, segment, token


def drive(root: UUID, answers: Answers) -> None:
    """Run an execution and the rest of its family until each execution ends or waits.

    Raises AssertionError if steps still become ready after the maximum number of rounds.
    """
    with ExitStack() as stack:
        stack.enter_context(silent())
        stack.enter_context(registry.standing_in(wrapped(answers)))
        for _ in range(MOST_ROUNDS):
            if not _round(root, answers):
                return
    raise AssertionError(
        f"execution {root} has not ended after {MOST_ROUNDS:,} rounds; check it for an endless loop"
    )


@contextmanager
def silent() -> Iterator[None]:
    """Send no messages to the broker while the block runs."""

    def ignore(*_: Any) -> None:
        """Ignore a message, because the rows hold the same information."""

    with patch.multiple(
        messages, publish=ignore, prepare_remote=ignore, advance=ignore, tell=ignore
    ):
        yield


def family(root: UUID) -> list[UUID]:
    """Return the IDs of an execution, its descendants, and the error executions of all of these."""
    found, newest = [root], [root]
    while newest:
        started = Q(parent_id__in=newest) | Q(failure_of_id__in=newest)
        rows = WorkflowExecution.objects.filter(started).exclude(pk__in=found)
        newest = list(rows.order_by("pk").values_list("pk", flat=True))
        found += newest
    return found


def _round(root: UUID, answers: Answers) -> bool:
    """Run everything that is ready or due now; return whether anything changed."""
    ids = family(root)
    moved = bool(executions.overdue_executions() + waits.due_timers())
    moved |= _admitted(ids)
    moved |= _delivered()
    moved |= _children_told(ids)
    for one in _pending(ids, answers):
        moved |= _carry(one)
    return moved or _planned(ids)


def _pending(ids: Sequence[UUID], answers: Answers) -> list[Pending]:
    due = Q(retry_after=None) | Q(retry_after__lte=database_now())
    rows = Run.objects.filter(
        due, execution_id__in=ids, state=RunState.PENDING, superseded=False,
        execution__state=ExecutionState.RUNNING,
    ).order_by("execution_id", "queued_at", "id")  # fmt: skip
    remote = limits().remote_queues
    return [
        (run.pk, run.execution_id, run.execution.version_id, run.segment, run.lease_token)
        for run in rows.select_related("execution").only(*PENDING_FIELDS)
        if run.queue not in remote or any(key in answers for key in keys(run.step_path, run.module))
    ]


def _carry(pending: Pending) -> bool:
    """Run a segment as the task `run_segment` does; return whether its pending run changed."""
    run, execution, version, segment, token = pending
    # A worker would show the error in Flower; here the rows show it.
    with suppress(LeaseLost, StepFailed):
        receive.run_segment(execution, version, segment)
    return not Run.objects.filter(pk=run, state=RunState.PENDING, lease_token=token).exists()


def _admitted(ids: Sequence[UUID]) -> bool:
    waiting = WorkflowExecution.objects.filter(pk__in=ids, state=ExecutionState.PENDING)
    workspaces = set(waiting.values_list("workspace_id", flat=True))
    return sum(admit(workspace) for workspace in workspaces) > 0


def _delivered() -> bool:
    found = Event.objects.filter(delivered_at=None).order_by("created_at")
    ids = list(found.values_list("pk", flat=True))
    woken = sum(events.deliver(event) for event in ids)
    # One call evaluates filters for a limited time only, so the next call continues.
    return woken > 0 or found.filter(pk__in=ids).exists()


def _children_told(ids: Sequence[UUID]) -> bool:
    ended = WorkflowExecution.objects.filter(
        pk__in=ids, state__in=sorted(FINAL), parent_run_id__isnull=False
    )
    waiting = Run.objects.filter(
        pk__in=ended.values("parent_run_id"), state=RunState.WAITING, waits_for=WaitKind.CHILD
    )
    awaited = ended.filter(parent_run_id__in=waiting.values("pk"))
    told = sum(
        child_executions.wake_parent(child) for child in awaited.values_list("pk", flat=True)
    )
    return told + sum(child_executions.cancel_of(parent) for parent in ids) > 0


def _planned(ids: Sequence[UUID]) -> bool:
    """Plan the running executions, as workers do when messages report joins and ends.

    Return whether anything changed.
    """
    running = WorkflowExecution.objects.filter(pk__in=ids, state=ExecutionState.RUNNING)
    found = list(running.values_list("pk", flat=True))
    started = sum(plan_execution.catch_up(execution) for execution in found)
    ended = WorkflowExecution.objects.filter(pk__in=found, state__in=sorted(FINAL))
    return started > 0 or ended.exists()
