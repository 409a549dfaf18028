"""The auditor of the ledger: after a scenario it reads the rows and names every broken promise.

1. Each execution is in a final state, the right one for how its steps ended.
2. Each step that had to succeed has one SUCCESS run, and none ran before its predecessors settled.
3. No idempotency key succeeded twice; an effect is repeated only where its try did not succeed.
4. Nothing is live, no lease is held, the workspace's places are as many as its rows say.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.admission import active
from executions.models import WorkflowExecution
from executions.states import ACTIVE, FINAL
from runners.models import Run
from runners.states import LIVE
from tests.support.interpreter import ERROR, Missing, Story, interpret, paths
from tests.support.modules import marks


class Audit:
    """What the rows of some executions say: the problems found, the repeats counted."""

    def __init__(self, ids: Iterable[UUID]) -> None:
        self.problems: list[str] = []
        self.repeats = 0
        executions = WorkflowExecution.objects.select_related("version").filter(pk__in=list(ids))
        found = list(executions)
        for execution in found:
            _Ledger(execution, self).check()
        for workspace_id in {execution.workspace_id for execution in found}:
            self._places(workspace_id)

    def _places(self, workspace_id: UUID) -> None:
        rows = WorkflowExecution.objects.filter(
            workspace_id=workspace_id, state__in=sorted(ACTIVE), parent=None
        ).count()
        if rows != active(workspace_id):
            self.problems.append(f"workspace {workspace_id}: {active(workspace_id)} != {rows}")


def audit(ids: Iterable[UUID]) -> Audit:
    """Check the four rules; AssertionError lists what is broken."""
    done = Audit(ids)
    assert not done.problems, "\n".join(done.problems)
    return done


class _Ledger:
    """One execution's rows."""

    def __init__(self, execution: WorkflowExecution, audit: Audit) -> None:
        self.execution = execution
        self.audit = audit
        self.document = execution.version.definition
        self.runs: dict[str, list[Run]] = defaultdict(list)
        for run in Run.objects.filter(execution=execution, superseded=False).order_by("attempt"):
            self.runs[run.step_path].append(run)
        self.marks = marks(execution.pk)

    def check(self) -> None:
        if self.execution.state not in FINAL:
            self._say(f"is {self.execution.state}, not final")
        self._nothing_is_live()
        if self.execution.state in {"SUCCESS", "FAILED"}:
            self._ended_right()
        self._in_order()
        self._effects()

    def _say(self, problem: str) -> None:
        self.audit.problems.append(f"execution {self.execution.pk} {problem}")

    def _nothing_is_live(self) -> None:
        for path, runs in self.runs.items():
            for run in runs:
                if run.state in LIVE:
                    self._say(f"has a live run: {path} #{run.attempt} {run.state}")

    def _ended_right(self) -> None:
        ends = {path: end for path, runs in self.runs.items() if (end := _end(runs[-1]))}
        try:
            story = interpret(self.document, ends)
        except Missing as error:
            self._say(f"is {self.execution.state}, but step {error} had to run and did not end")
            return
        if story.state != self.execution.state:
            self._say(f"is {self.execution.state}; it had to be {story.state}")
        self._successes(story)

    def _successes(self, story: Story) -> None:
        for task in self.document["tasks"]:
            for path in paths(task):
                count = sum(run.state == "SUCCESS" for run in self.runs.get(path, []))
                if count != (path in story.done):
                    self._say(f"has {count} SUCCESS runs of {path}")

    def _in_order(self) -> None:
        settled = self._settled()
        for task in self.document["tasks"]:
            before = self._before(task, settled)
            for path in paths(task):
                # A take-over writes a new start over the old one; the marks keep both.
                times = [mark["at"] for mark in self.marks if mark["step"] == path]
                runs = self.runs.get(path, [])
                times += [r.started_at for r in runs if r.started_at and r.state != "SKIPPED"]
                if before and times and min(times) < before:
                    self._say(f"ran {path} at {min(times)}, those before it settled at {before}")
                before = _finished(runs) or before

    def _settled(self) -> dict[str, datetime]:
        """When each task that ended was settled; a skipped one with the last before it."""
        settled: dict[str, datetime] = {}
        for task in self._sorted_tasks():
            last = [run for path in paths(task) for run in self.runs.get(path, [])]
            if all(run.state == "SKIPPED" for run in last):
                before = self._before(task, settled)
                if before:
                    settled[task["id"]] = before
            elif at := _finished(last):
                settled[task["id"]] = at
        return settled

    def _before(self, task: Any, settled: dict[str, datetime]) -> datetime | None:
        sources = {e["from"] for e in self.document["edges"] if e["to"] == task["id"]}
        return max((settled[s] for s in sources if s in settled), default=None)

    def _sorted_tasks(self) -> list[Any]:
        order: dict[str, Any] = {}
        waiting = list(self.document["tasks"])
        while waiting:
            for task in list(waiting):
                sources = {e["from"] for e in self.document["edges"] if e["to"] == task["id"]}
                if sources <= order.keys():
                    order[task["id"]] = task
                    waiting.remove(task)
        return list(order.values())

    def _effects(self) -> None:
        successes: dict[str, Run] = {}
        for run in (run for runs in self.runs.values() for run in runs):
            if run.state == "SUCCESS" and run.idempotency_key:
                if run.idempotency_key in successes:
                    self._say(f"recorded the key of {run.step_path} as two successes")
                successes[run.idempotency_key] = run
        for key, run in successes.items():
            self._effects_of(run, [mark for mark in self.marks if mark["key"] == key])

    def _effects_of(self, run: Run, marks_of_key: list[dict[str, Any]]) -> None:
        """Those of one step that succeeded: one under the lease that recorded it, else repeats."""
        won = sum(
            (mark["run"], mark["token"]) == (run.pk, run.lease_token) for mark in marks_of_key
        )
        self.audit.repeats += len(marks_of_key) - won
        if won > 1:
            self._say(f"did {run.step_path} {won} times under one lease")
        if won == 0 and run.module == "test.effect":
            self._say(f"recorded {run.step_path} as done under a lease that did nothing")


def _end(run: Run) -> str | None:
    if run.state == "SUCCESS":
        return run.outcome or "success"
    if run.state == "DLQ" or (run.state == "FAILED" and run.outcome == ERROR):
        return ERROR
    return None


def _finished(runs: list[Run]) -> datetime | None:
    return max((run.finished_at for run in runs if run.finished_at), default=None)
