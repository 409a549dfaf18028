"""One execution in a test: run it, inspect it, and act on it from outside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import F, Min
from django.db.models.functions import Now

from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.definition.graph.places import split
from executions.models import Membership, WorkflowExecution, Workspace
from executions.states import FINAL, UNFINISHED, Role
from executions.triggers.event import publish_event
from runners.models import CachedResult, Run
from runners.segment.template_data import callback_url_of
from runners.states import LIVE, RunState, WaitKind
from runners.testing.answers import Answers
from runners.testing.drive import drive, family, silent
from runners.waits import approvals, callbacks
from runners.waits.events import signal

# The rows of some executions as text, for the message of a failed assertion.


MOST_RUNS = 100
LONGEST = 100


def table(ids: Sequence[UUID]) -> str:
    """Return a line for each execution and each of its first 100 runs, in order of creation."""
    parts = []
    for execution in WorkflowExecution.objects.filter(pk__in=ids).order_by("pk"):
        title = f"{execution.workflow.name} is {execution.state}"
        parts.append(f"{title}: {execution.error_message}" if execution.error_message else title)
        parts += _lines(execution)
    return "\n".join(parts)


def _lines(execution: WorkflowExecution) -> list[str]:
    found = list(execution.runs.filter(superseded=False).order_by("id"))
    rows = [_row(run) for run in found[:MOST_RUNS]]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    lines = [
        "  "
        + "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[4]]).rstrip()
        for row in rows
    ]
    return [*lines, f"  … and {len(found) - MOST_RUNS} more"] if len(found) > MOST_RUNS else lines


def _row(run: Run) -> tuple[str, str, str, str, str]:
    """Return a run's path and attempt, and its module, state, outcome or wait, and result."""
    state = str(run.state)
    how = run.waits_for if state == "WAITING" else run.outcome
    return f"{run.step_path} #{run.attempt}", run.module, state, how, _came(run)


def _came(run: Run) -> str:
    if run.error:
        return _short(f"{run.error_type}: {run.error}")
    if run.retry_after is not None and run.state == "PENDING":
        return f"retried at {run.retry_after:%H:%M:%S}"
    return "" if run.outputs is None else _short(run.outputs)


def _short(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else repr(value)).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


ANYBODY = "tester"


def person(name: str, workspace: Workspace) -> Any:
    """Return the user with this name, created and made a member of the workspace if necessary.

    A new member gets the role called `name`, such as ADMIN, or else WORKFLOW; for "", ADMIN.
    """
    role = name if name in Role.values else (Role.WORKFLOW if name else Role.ADMIN)
    model = get_user_model()
    named: Any = {model.USERNAME_FIELD: name or ANYBODY}
    user, _ = model._default_manager.get_or_create(**named)
    Membership.objects.get_or_create(user=user, workspace=workspace, defaults={"role": role})
    return user


# Advance the time for some executions by moving all instants in their rows into the past.

RUN_TIMES = ("started_at", "due_at", "retry_after", "deadline_at")
EXECUTION_TIMES = ("created_at", "started_at", "deadline_at")


def advance(ids: Sequence[UUID], span: timedelta) -> None:
    """Simulate the passing of `span` for these executions and for cached results."""
    runs = Run.objects.filter(execution_id__in=ids, state__in=sorted(LIVE))
    runs.update(**{name: F(name) - span for name in RUN_TIMES})
    rows = WorkflowExecution.objects.filter(pk__in=ids, state__in=sorted(UNFINISHED))
    rows.update(**{name: F(name) - span for name in EXECUTION_TIMES})
    CachedResult.objects.update(expires_at=F("expires_at") - span)


def until_next(ids: Sequence[UUID]) -> timedelta | None:
    """Return the time until these executions' next timer, retry or deadline; None without one."""
    runs = Run.objects.filter(execution_id__in=ids)
    retries = runs.filter(state=RunState.PENDING, retry_after__gt=Now())
    timers = runs.filter(state=RunState.WAITING, due_at__isnull=False)
    rows = WorkflowExecution.objects.filter(pk__in=ids, state__in=sorted(UNFINISHED))
    instants = [
        retries.aggregate(at=Min("retry_after"))["at"],
        timers.aggregate(at=Min("due_at"))["at"],
        rows.aggregate(at=Min("deadline_at"))["at"],
    ]
    known = [at for at in instants if at is not None]
    return max(timedelta(), min(known) - database_now()) if known else None


ACTOR = Actor.system("a test")


@dataclass
class WorkflowRun:
    """An execution that the testing kit runs; modules with an answer in `answers` do not run.

    Name a task by its ID, by its place and ID in a body (`refine[1].draft`), or by the complete
    path of a step (`charge.pay`). If a task has several modules, its ID refers to the step with the
    newest run.
    """

    id: UUID
    answers: Answers = field(default_factory=dict)

    @property
    def execution(self) -> WorkflowExecution:
        """Return the execution's current row."""
        return WorkflowExecution.objects.get(pk=self.id)

    @property
    def state(self) -> str:
        """Return the execution's state, such as `RUNNING` (also during waits) or `SUCCESS`."""
        return str(self.execution.state)

    @property
    def output(self) -> Any:
        """Return the output of the workflow; None before the execution ends."""
        return self.execution.output

    @property
    def variables(self) -> dict[str, Any]:
        """Return the current values of the workflow's variables."""
        return dict(self.execution.context_data)

    @property
    def children(self) -> list["WorkflowRun"]:
        """Return the executions that the execution's steps started, the oldest first."""
        rows = WorkflowExecution.objects.filter(parent_id=self.id).order_by("pk")
        return [WorkflowRun(pk, self.answers) for pk in rows.values_list("pk", flat=True)]

    @property
    def dead_letters(self) -> dict[str, str]:
        """Return the errors of dead runs, such as `PERMANENT: no stock`, keyed by step path."""
        return {
            run.step_path: f"{run.error_type}: {run.error}"
            for run in self._runs().filter(state=RunState.DLQ)
        }

    @property
    def waits(self) -> dict[str, str]:
        """Return the kinds of waits, such as `timer`, keyed by path; containers are omitted."""
        found = self._runs().filter(state=RunState.WAITING).exclude(waits_for=WaitKind.BODY)
        return dict(found.values_list("step_path", "waits_for"))

    def carry(self) -> "WorkflowRun":
        """Run the execution until it ends or waits; return self.

        The methods that change a wait or the time, such as `approve`, also do this.
        """
        drive(self.id, self.answers)
        return self

    def ran(self) -> list[str]:
        """Return the tasks that ran, each only once, in the order in which they became ready."""
        found = self._runs().exclude(state=RunState.SKIPPED).exclude(started_at=None)
        paths = found.order_by("id").values_list("step_path", flat=True)
        return list(dict.fromkeys(path.rpartition(".")[0] for path in paths))

    def attempts(self, task: str) -> int:
        """Return the number of attempts of a task's last step."""
        return int(self._run(task).attempt)

    def outputs(self, task: str) -> Any:
        """Return a task's output. Raises AssertionError if the task did not succeed."""
        run = self._run(task)
        assert run.state == RunState.SUCCESS, self._told(f"{task} has no output: it is {run.state}")
        return run.outputs

    def outcome(self, task: str) -> str:
        """Return a task's outcome, such as `success`; "" if its last run is unfinished or dead."""
        run = self._run(task)
        return "skipped" if run.state == RunState.SKIPPED else str(run.outcome)

    def inputs(self, task: str) -> Any:
        """Return a task's rendered inputs; secrets are references."""
        return self._run(task).inputs

    def logs(self, task: str) -> list[dict[str, Any]]:
        """Return the log of a task's step: entries with `level` and `message`."""
        return list(self._run(task).logs or [])

    def assert_state(self, state: str) -> "WorkflowRun":
        """Assert the state of the execution."""
        found = self.state
        assert found == state, self._told(f"expected {state}, found {found}")
        return self

    def assert_outcome(self, task: str, outcome: str) -> "WorkflowRun":
        """Assert the outcome of a task."""
        found = self.outcome(task)
        assert found == outcome, self._told(f"{task}: expected {outcome!r}, found {found!r}")
        return self

    def assert_ran(self, tasks: Iterable[str]) -> "WorkflowRun":
        """Assert that exactly these tasks ran, in this order."""
        wanted, found = list(tasks), self.ran()
        assert found == wanted, self._told(f"expected that {wanted} ran, found {found}")
        return self

    def advance_time(self, span: timedelta | float | None = None) -> "WorkflowRun":
        """Advance time by `span` (seconds or a timedelta), or to the next timer, retry or deadline.

        Only the times in the rows change, not the clock itself. Without `span`, raises
        AssertionError if there is no timer, retry or deadline.
        """
        ids = family(self.id)
        if span is None:
            span = until_next(ids)
            assert span is not None, self._told("no step waits for a time")
        by = span if isinstance(span, timedelta) else timedelta(seconds=span)
        advance(ids, by)
        return self.carry()

    def approve(self, task: str, *, by: str = "", comment: str = "") -> "WorkflowRun":
        """Approve a task that waits for approval; `by` is the name of a user, or a role."""
        return self._decide(task, approvals.APPROVED, by, comment)

    def reject(self, task: str, *, by: str = "", comment: str = "") -> "WorkflowRun":
        """Reject a task that waits for approval; `by` is the name of a user, or a role."""
        return self._decide(task, approvals.REJECTED, by, comment)

    def signal(self, name: str, payload: Any = None) -> "WorkflowRun":
        """Send a signal to this execution. Raises NobodyWaits if the signal wakes no step."""
        with silent():
            signal(self.execution, name, payload, actor=ACTOR)
        return self.carry()

    def send_event(self, name: str, payload: Any = None) -> "WorkflowRun":
        """Publish an event, which starts the workflows that it triggers and wakes waiting steps."""
        with silent():
            publish_event(self.execution.workspace, name, payload, actor=ACTOR)
        return self.carry()

    def call_back(self, task: str, payload: Any = None) -> "WorkflowRun":
        """Call the callback URL of a task that uses `flow.callback`."""
        address = callback_url_of(self.id, self._path(task))
        with silent():
            callbacks.receive(address.rpartition("/")[2], payload, actor=ACTOR)
        return self.carry()

    def table(self) -> str:
        """Return the executions and their runs as text, as failed assertions show them."""
        return table(family(self.id))

    def _decide(self, task: str, decision: str, by: str, comment: str) -> "WorkflowRun":
        run = self._run(task)
        user = person(by, self.execution.workspace)
        with silent():
            approvals.decide(run.pk, decision, comment, user=user, actor=Actor.of(user))
        return self.carry()

    def _runs(self) -> Any:
        epoch = self.execution.epoch
        return Run.objects.filter(execution_id=self.id, epoch=epoch, superseded=False)

    def _path(self, task: str) -> str:
        """Return the path of a task's last step that has a run."""
        return str(self._run(task).step_path)

    def _run(self, task: str) -> Run:
        prefix, inner = split(task)
        runs = self._runs().filter(step_path__startswith=prefix + inner)
        for run in runs.order_by("-id"):
            if run.step_path == task or run.step_path.rpartition(".")[0] == task:
                return run  # type: ignore[no-any-return]
        raise AssertionError(self._told(f"{task} has not run, and no task has that name"))

    def _told(self, what: str) -> str:
        more = (
            ""
            if self.state in FINAL
            else "; it waits for "
            + (
                ", ".join(f"{path} ({kind})" for path, kind in self.waits.items())
                or "nothing outside"
            )
        )
        return f"{what}{more}\n{self.table()}"
