"""The auditor of the ledger: after a scenario it reads the rows and names every broken promise.

1. Each execution is in a final state, the right one for how its steps ended.
2. Each step that had to succeed, in each place, has one SUCCESS run; no other step ran, and none
   before its predecessors settled.
3. No idempotency key succeeded twice; an effect is repeated only if its try did not succeed.
4. Nothing is live except containers that hold a dead step, no lease is held, and the workspace's
   slots match its rows.
5. The outputs of containers are those of their bodies, in order; containers kept their bounds
   (tests/support/containment.py).
6. A failed execution undid what had succeeded: each step once, one after another, the newest first
   (tests/support/undoing.py).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.admission.capacity import active
from executions.models import WorkflowExecution
from executions.states import ACTIVE, FINAL
from runners.models import Run
from runners.states import LIVE
from tests.support import containment, undoing
from tests.support.id_arrays import among
from tests.support.interpreter import (
    ERROR,
    LOOPS,
    Missing,
    Scope,
    Story,
    agrees,
    interpret,
    paths,
    places,
)
from tests.support.modules import marks


class Audit:
    """The result for some executions' rows: the problems, and the number of repeated effects."""

    def __init__(self, ids: Iterable[UUID]) -> None:
        self.problems: list[str] = []
        self.repeats = 0
        self.states: dict[UUID, str] = {}
        self.runs: dict[UUID, dict[str, list[Run]]] = {}  # by step, the counted ones, in order
        executions = WorkflowExecution.objects.select_related("version").filter(pk__in=among(ids))
        found = list(executions)
        for execution in found:
            ledger = _Ledger(execution, self)
            self.states[execution.pk] = execution.state
            self.runs[execution.pk] = ledger.runs
            ledger.check()
        for workspace_id in {execution.workspace_id for execution in found}:
            self._places(workspace_id)

    def _places(self, workspace_id: UUID) -> None:
        rows = WorkflowExecution.objects.filter(
            workspace_id=workspace_id, state__in=sorted(ACTIVE), parent=None, place="HELD"
        ).count()
        if rows != active(workspace_id):
            self.problems.append(f"workspace {workspace_id}: {active(workspace_id)} != {rows}")

    def insist(self) -> None:
        """Raise AssertionError with the list of problems, if there are any."""
        assert not self.problems, "\n".join(self.problems)


def audit(ids: Iterable[UUID]) -> Audit:
    """Check the six rules for these executions; raise AssertionError with the list of problems."""
    done = Audit(ids)
    done.insist()
    return done


class _Ledger:
    """One execution's rows."""

    def __init__(self, execution: WorkflowExecution, audit: Audit) -> None:
        self.execution = execution
        self.audit = audit
        self.document = execution.version.definition
        self.runs: dict[str, list[Run]] = defaultdict(list)
        # Steps that a roll-back made history may have run before their predecessors ran again.
        gone = set()
        for run in Run.objects.filter(execution=execution).order_by("attempt"):
            if run.superseded:
                gone.add(run.pk)
            else:
                self.runs[run.step_path].append(run)
        self.marks = [mark for mark in marks(execution.pk) if mark["run"] not in gone]
        self.marked: dict[str, list[datetime]] = defaultdict(list)
        counted = {run.pk for runs in self.runs.values() for run in runs}
        for mark in self.marks:
            if mark["run"] in counted:  # not of a run that was superseded
                self.marked[mark["step"]].append(mark["at"])

    def check(self) -> None:
        if self.execution.state not in FINAL:
            self._say(f"is {self.execution.state}, not final")
        story = None
        if self.execution.state in {"SUCCESS", "FAILED"}:
            story = self._ended_right()
        self._nothing_is_live(story)
        self._in_order(self.document, "", None)
        self._effects()
        for problem in undoing.problems(self.execution, self.runs):
            self._say(problem)

    def _say(self, problem: str) -> None:
        self.audit.problems.append(f"execution {self.execution.pk} {problem}")

    def _nothing_is_live(self, story: Story | None) -> None:
        for path, runs in self.runs.items():
            for run in runs:
                holds = run.state == "WAITING" and run.waits_for == "body"
                if run.state in LIVE and not (story and holds and path in story.stuck):
                    self._say(f"has a live run: {path} #{run.attempt} {run.state}")

    def _ended_right(self) -> Story | None:
        known: Scope = {"input": self.execution.trigger_payload}
        if not _writes_variables(self.document):
            known["vars"] = self.execution.context_data
        entered = places(self.runs).__contains__
        try:
            story = interpret(self.document, self._told, scope=known, entered=entered)
        except Missing as error:
            self._say(f"is {self.execution.state}, but step {error} had to run and did not end")
            return None
        if story.state != self.execution.state:
            self._say(f"is {self.execution.state}; it had to be {story.state}")
        self._as_told(story)
        self._reasons(story)
        self._outputs(story)
        return story

    def _told(self, path: str, module: Mapping[str, Any], scope: Scope) -> tuple[str, Any]:
        runs = self.runs.get(path)
        end = _end(runs[-1]) if runs else None
        if not runs or end is None:
            raise Missing(path)
        return end, runs[-1].outputs

    def _as_told(self, story: Story) -> None:
        """Check that each step's runs match its part in the story."""
        wanted = (
            [(path, "SUCCESS") for path in story.done]
            + [(path, "DLQ") for path in story.dead]
            + [(path, "FAILED") for path in story.failed | story.failed_over]
            + [(path, self._stuck()) for path in story.stuck]
        )
        states = dict(wanted)
        own = {path for path in self.runs if not undoing.is_undo(path)}
        for path in own | states.keys():
            runs = self.runs.get(path, [])
            successes = sum(run.state == "SUCCESS" for run in runs)
            if successes != (path in story.done):
                self._say(f"has {successes} SUCCESS runs of {path}")
            last = runs[-1].state if runs else "absent"
            task = path.rpartition(".")[0]
            due = states.get(path, "SKIPPED" if task in story.skipped else "absent")
            if last != due and "SUCCESS" not in {last, due}:
                self._say(f"has {path} {last}; it had to be {due}")
        if story.state == "SUCCESS":
            skipped = {
                path.rpartition(".")[0] for path, runs in self.runs.items() if _skipped(runs)
            }
            for task in story.skipped - skipped:
                self._say(f"has no SKIPPED run of {task}")

    def _stuck(self) -> str:
        """Return the state of a container that holds a dead step: WAITING, or CANCELLED if it ended
        before it was undone.
        """
        return "CANCELLED" if self.execution.compensation else "WAITING"

    def _reasons(self, story: Story) -> None:
        """Check that a container fails permanently, with the message of the step that failed in its
        body.
        """
        for path in story.failed | story.failed_over:
            start = f"{path.removesuffix('.main')}["
            inside = {
                self.runs[failed][-1].error
                for failed in story.failed
                if failed.startswith(start) and failed.count("[") == path.count("[") + 1
            }
            run = self.runs[path][-1]
            if inside and (run.error_type, True) != (
                "PERMANENT",
                any(error in run.error for error in inside),
            ):
                self._say(f"has {path} failed as {run.error_type} {run.error!r}, not as {inside}")

    def _outputs(self, story: Story) -> None:
        for path in story.done:
            expected = story.outputs[path]
            runs = self.runs.get(path, [])
            # Plain steps' outputs in the story are the rows' own.
            if runs and not agrees(expected, runs[-1].outputs):
                found = runs[-1].outputs
                self._say(f"recorded {str(found)[:300]} of {path}, not {str(expected)[:300]}")

    def _in_order(self, body: Mapping[str, Any], place: str, opened: datetime | None) -> None:
        """Check the order of the steps in a place whose container was claimed at `opened`, and in
        the places inside it.
        """
        sources: dict[str, set[str]] = defaultdict(set)
        for edge in body["edges"]:
            sources[edge["to"]].add(edge["from"])
        settled: dict[str, datetime] = {}
        for task in _sorted_tasks(body["tasks"], sources):
            name = task["id"]
            known = [settled[s] for s in sources[name] if s in settled]
            before = max(known, default=opened)
            own = [place + path for path in paths(task)]
            last = [run for path in own for run in self.runs.get(path, [])]
            # A skipped one settles with the last before it.
            at = before if all(run.state == "SKIPPED" for run in last) else _finished(last)
            if at is not None:
                settled[name] = at
            for path in own:
                times = self._starts(path)
                if before and times and min(times) < before:
                    self._say(f"ran {path} at {min(times)}, those before it settled at {before}")
                before = _finished(self.runs.get(path, [])) or before
            if "body" in task and self._starts(own[0]):
                self._inside(task, own[0])

    def _inside(self, task: Mapping[str, Any], path: str) -> None:
        opened = min(self._starts(path))
        runs = self.runs[path]
        # A cancelled one's runs end in one statement, in any order.
        closed = None if runs[-1].state == "CANCELLED" else runs[-1].finished_at
        config = task["modules"][0]["with"]
        inside = undoing.without(self.runs), undoing.without(self.marked)
        turns = containment.turns(path.removesuffix(".main"), *inside)
        for problem in containment.problems(task["modules"][0]["use"], config, turns, closed):
            self._say(f"has {path}, {problem}")
        previous = opened
        for turn in turns:
            self._in_order(task["body"], turn.place, previous)
            if task["modules"][0]["use"] in LOOPS:
                previous = turn.finished or previous

    def _starts(self, path: str) -> list[datetime]:
        """Return the times at which the step started.

        A take-over overwrites the first start, but the marks have both.
        """
        runs = self.runs.get(path, [])
        begun = [r.started_at for r in runs if r.started_at and r.state != "SKIPPED"]
        return [*self.marked.get(path, []), *begun]

    def _effects(self) -> None:
        successes: dict[str, Run] = {}
        for run in (run for runs in self.runs.values() for run in runs):
            if run.state == "SUCCESS" and run.idempotency_key:
                if run.idempotency_key in successes:
                    self._say(f"recorded the key of {run.step_path} as two successes")
                successes[run.idempotency_key] = run
        by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for mark in self.marks:
            by_key[mark["key"]].append(mark)
        for key, run in successes.items():
            self._effects_of(run, by_key[key])

    def _effects_of(self, run: Run, marks_of_key: list[dict[str, Any]]) -> None:
        """Check that the effects of one successful run belong to the lease that recorded it; count
        the others as repeats.
        """
        won = sum(
            (mark["run"], mark["token"]) == (run.pk, run.lease_token) for mark in marks_of_key
        )
        self.audit.repeats += len(marks_of_key) - won
        if won > 1:
            self._say(f"did {run.step_path} {won} times under one lease")
        marked = run.module in {"test.effect", "test.wait"} and run.cached_from is None
        if won == 0 and marked:
            self._say(f"recorded {run.step_path} as done under a lease that did nothing")


def _writes_variables(body: Mapping[str, Any]) -> bool:
    return any(
        ("body" in task and _writes_variables(task["body"]))
        or any(module["writesVariables"] for module in task["modules"])
        for task in body["tasks"]
    )


def _sorted_tasks(tasks: list[Any], sources: Mapping[str, set[str]]) -> list[Any]:
    order: dict[str, Any] = {}
    waiting = list(tasks)
    while waiting:
        for task in list(waiting):
            if sources[task["id"]] <= order.keys():
                order[task["id"]] = task
                waiting.remove(task)
    return list(order.values())


def _end(run: Run) -> str | None:
    if run.state == "SUCCESS":
        return run.outcome or "success"
    if run.state == "DLQ" or (run.state == "FAILED" and run.outcome == ERROR):
        return ERROR
    return None


def _skipped(runs: list[Run]) -> bool:
    return bool(runs) and runs[-1].state == "SKIPPED"


def _finished(runs: list[Run]) -> datetime | None:
    return max((run.finished_at for run in runs if run.finished_at), default=None)
