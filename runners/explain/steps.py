"""Explain a run's state from its row and the results of queries.

This module is pure. The checks of a pending run have an order; the first check that applies gives
the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.definition.graph.iterations import LoopTurns, MapTurns
from executions.explain.reason import Reason, at, brief, iso, some
from executions.states import FINAL, CapacityState, ExecutionState
from runners.explain.holds import not_installed
from runners.models import Run
from runners.models.runner import RESPONDS_WITHIN
from runners.states import HELD, RunState, WaitKind

COUNTED = 10_000
MAX_OPEN = 50


@dataclass(frozen=True, slots=True)
class Around:
    """The facts, in addition to the runs, that determine the reasons of an execution's runs.

    `before`, `failed`, `most`, `noticed`, `filters`, `letters` and `holds` are keyed by run ID.
    `served` are the queues that a worker consumes. `before` counts the messages sent before the
    run's own, `failed` contains the previous attempt's error, and `most` contains the maximum
    number of attempts. `noticed` is the time since which an outside event may wake the run, and
    `filters` are the texts of event filters. `children` are the states of child executions, and
    `letters` are the IDs of open dead letters. `remote` are the queues of remote runners, each with
    the time at which a runner of the workspace was last seen, or None. `holds` are the reasons that
    gates give for held runs. `test` is true for a test run.
    """

    now: datetime
    state: str = ExecutionState.RUNNING
    place: str = CapacityState.HELD
    served: frozenset[str] = frozenset()
    before: Mapping[UUID, int] = field(default_factory=dict)
    failed: Mapping[UUID, str] = field(default_factory=dict)
    most: Mapping[UUID, int] = field(default_factory=dict)
    noticed: Mapping[UUID, datetime] = field(default_factory=dict)
    filters: Mapping[UUID, str] = field(default_factory=dict)
    children: Mapping[str, str] = field(default_factory=dict)
    letters: Mapping[UUID, UUID] = field(default_factory=dict)
    remote: Mapping[str, datetime | None] = field(default_factory=dict)
    holds: Mapping[UUID, Reason] = field(default_factory=dict)
    test: bool = False


def step_reason(run: Run, around: Around) -> Reason:
    """Return the reason why a live or dead run has not succeeded."""
    if run.state == RunState.DLQ:
        return _dead(run, around)
    if run.state in HELD:
        return _held(run, around)
    if run.state == RunState.WAITING:
        return WAITS[run.waits_for](run, around)
    for check in PENDING:
        reason = check(run, around)
        if reason is not None:
            return reason
    return _in_queue(run, around)


def _execution_over(run: Run, around: Around) -> Reason | None:
    if around.state not in FINAL:
        return None
    return Reason("execution_over", f"Its execution has ended ({around.state}); it will not run.")


def _execution_paused(run: Run, around: Around) -> Reason | None:
    if around.state != ExecutionState.PAUSED:
        return None
    return Reason(
        "execution_paused",
        "It is ready and starts when its execution is resumed.",
        since=run.queued_at,
    )


def _execution_without_place(run: Run, around: Around) -> Reason | None:
    if around.state == ExecutionState.RUNNING and around.place == CapacityState.HELD:
        return None
    return Reason(
        "execution_waits",
        "It is ready and starts when its execution has a slot of its workspace.",
        since=run.queued_at,
    )


def _isolation_due(run: Run, around: Around) -> Reason | None:
    if not run.suspect or run.retry_after is None or run.published_at is not None:
        return None
    return Reason(
        "isolation_due",
        f"{_suspected(run)} It is sent again at {at(run.retry_after)}.",
        since=run.due_at,
        until=run.retry_after,
        details={"crashes": run.crashes, "crashCause": run.crash_cause},
    )


def _suspected(run: Run) -> str:
    """Return a sentence about why a run is a suspect and how it is executed."""
    apart = "Workers with threads execute it in a separate process."
    if run.crashes:
        times = "once" if run.crashes == 1 else f"{run.crashes} times"
        return f"It ended its worker process {times}; the last time, {run.crash_cause}. {apart}"
    return f"Its worker process ended for an unknown reason. {apart}"


def _retry_due(run: Run, around: Around) -> Reason | None:
    if run.retry_after is None or run.published_at is not None:
        return None
    number, most = run.attempt - run.budget_start + 1, around.most.get(run.pk)
    of = f" of {most}" if most else ""
    error = around.failed.get(run.pk, "")
    why = f" The previous attempt failed: {brief(error)}" if error else ""
    when = f"is due at {at(run.retry_after)}"
    if run.retry_after <= around.now:
        when = f"was due at {at(run.retry_after)} and is sent within seconds"
    return Reason(
        "retry_due",
        f"Attempt {number}{of} {when}.{why}",
        since=run.queued_at,
        until=run.retry_after,
        details={"attempt": number, "maxAttempts": most, "error": brief(error)},
    )


def _not_sent(run: Run, around: Around) -> Reason | None:
    if run.published_at is not None:
        return None
    return Reason(
        "not_sent",
        "It could not be sent, because the broker did not answer. It is sent within seconds "
        "after the broker answers again.",
        since=run.due_at,
        details={"queue": run.queue},
    )


def _no_runner_yet(run: Run, around: Around) -> Reason | None:
    if run.queue not in around.remote:
        return None
    seen = around.remote[run.queue]
    last = (
        "none has been seen in this workspace yet. Start one"
        if seen is None
        else f"the last one in this workspace was seen at {at(seen)}"
    )
    return Reason(
        "waiting_for_remote_runner",
        f"It waits for a remote runner of the queue {run.queue!r}; {last}.",
        since=run.retry_after or run.queued_at,
        details={"queue": run.queue, "lastSeenAt": iso(seen)},
    )


def _no_worker(run: Run, around: Around) -> Reason | None:
    if run.queue in around.served:
        return None
    return Reason(
        "no_worker",
        f"It was sent to the queue {run.queue!r} at {at(run.published_at)}, and no worker "
        f"serves that queue: none was seen within {RESPONDS_WITHIN.seconds} s. Start one, "
        "or correct the step's queue.",
        since=run.published_at,
        details={"queue": run.queue, "sentAt": iso(run.published_at), "sent": run.publications},
    )


def _in_queue(run: Run, around: Around) -> Reason:
    ahead = around.before.get(run.pk, 0)
    many = f"{COUNTED:,} or more" if ahead >= COUNTED else f"about {ahead:,}"
    again = f" It was sent {run.publications} times." if run.publications > 1 else ""
    if run.suspect:
        again = f"{again} {_suspected(run)}"
    return Reason(
        "in_queue",
        f"It was sent to the queue {run.queue!r} at {at(run.published_at)} and no worker has "
        f"taken it yet; {many} messages are before it.{again}",
        since=run.published_at,
        details={
            "queue": run.queue,
            "sentAt": iso(run.published_at),
            "sent": run.publications,
            "ahead": ahead,
            "resentAt": iso(run.due_at),
        },
    )


def _held(run: Run, around: Around) -> Reason:
    details = {
        "runner": run.runner,
        "leaseUntil": iso(run.lease_until),
        "deadlineAt": iso(run.deadline_at),
        "heartbeatAt": iso(run.heartbeat_at),
    }
    if run.deadline_at is not None and run.deadline_at < around.now:
        return Reason(
            "past_deadline",
            f"Worker {run.runner} executes it, but its timeout passed at "
            f"{at(run.deadline_at)}; it is ended within seconds.",
            since=run.deadline_at,
            until=run.lease_until,
            details=details,
        )
    if run.lease_until is not None and run.lease_until < around.now:
        return Reason(
            "lease_expired",
            f"Worker {run.runner} executed it and sent its last heartbeat at "
            f"{at(run.heartbeat_at)}. Its lease expired at {at(run.lease_until)}; another "
            "worker takes the step over within seconds.",
            since=run.lease_until,
            details=details,
        )
    if run.state == RunState.LEASED:
        return Reason(
            "leased",
            f"Remote runner {run.runner} leased it at {at(run.heartbeat_at)} and has sent no "
            f"heartbeat yet; its lease ends at {at(run.lease_until)}.",
            since=run.heartbeat_at,
            until=run.lease_until,
            details=details,
        )
    return Reason(
        "executing",
        f"Worker {run.runner} has executed it since {at(run.started_at)}. Its lease lasts "
        f"until {at(run.lease_until)} and is renewed; its timeout is at "
        f"{at(run.deadline_at)}.",
        since=run.started_at,
        until=run.deadline_at,
        details=details,
    )


def _timer(run: Run, around: Around) -> Reason:
    return Reason(
        "waiting_for_timer",
        f"It waits until {at(run.due_at)}.",
        since=around.noticed.get(run.pk, run.started_at),
        until=run.due_at,
    )


def _approval(run: Run, around: Around) -> Reason:
    facts = run.progress or {}
    title, approvers = str(facts.get("title", "")), list(facts.get("approvers") or ())
    who = some([str(name) for name in approvers]) or "anyone who may operate executions"
    return _outside(
        run,
        around,
        "waiting_for_approval",
        f"It waits for a decision on {brief(title)!r} by {who}",
        {"title": title, "approvers": approvers},
    )


def _event(run: Run, around: Around) -> Reason:
    name, text = str((run.progress or {}).get("event", "")), around.filters.get(run.pk)
    such = f" for which {brief(text)} is true" if text else ""
    return _outside(
        run,
        around,
        "waiting_for_event",
        f"It waits for an event {name!r}{such}",
        {"event": name, "filter": text},
    )


def _callback(run: Run, around: Around) -> Reason:
    title = str((run.progress or {}).get("title", ""))
    what = f" ({brief(title)})" if title else ""
    return _outside(
        run,
        around,
        "waiting_for_callback",
        f"It waits for another system to call its address{what}",
        {"title": title},
    )


def _outside(run: Run, around: Around, code: str, sentence: str, details: dict[str, Any]) -> Reason:
    since = around.noticed.get(run.pk, run.started_at)
    ends = f", until {at(run.due_at)} at the latest" if run.due_at else ", without a time limit"
    return Reason(code, f"{sentence}, since {at(since)}{ends}.", since, run.due_at, details)


def _child(run: Run, around: Around) -> Reason:
    facts = run.progress or {}
    child = str(facts.get("executionId", ""))
    state = around.children.get(child, "unknown")
    ends = " and it continues within seconds" if state in FINAL else ""
    return Reason(
        "waiting_for_child",
        f"It waits for its child execution {child} of workflow {facts.get('workflow')!r}, which "
        f"is {state}{ends}.",
        since=around.noticed.get(run.pk, run.started_at),
        details={"executionId": child, "workflow": facts.get("workflow"), "state": state},
    )


def _hold(run: Run, around: Around) -> Reason:
    since = around.noticed.get(run.pk, run.started_at)
    return around.holds.get(run.pk) or not_installed(run, since)


def _body(run: Run, around: Around) -> Reason:
    document = run.progress
    if document is None:
        return Reason("waiting_for_body", "Its body is running.", since=run.started_at)
    sentence, details = _items(document) if "total" in document else _iteration(document)
    return Reason("waiting_for_body", sentence, since=run.started_at, details=details)


def _iteration(document: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    turns = LoopTurns.read(document)
    of = f"of {turns.count:,}" if turns.count is not None else f"(at most {turns.most:,})"
    details = {"index": turns.index, "count": turns.count, "most": turns.most or None}
    return f"Its body is running: iteration {turns.index + 1:,} {of}.", details


def _items(document: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    turns = MapTurns.read(document)
    done = turns.next - len(turns.open) - len(turns.spare)
    failed = ""
    if turns.failed is not None:
        failed = f" Item {turns.failed} failed, so no further item is started."
    sentence = (
        f"Its body is running: {done:,} of {turns.total:,} items are done, {len(turns.open):,} in "
        f"progress{': ' if turns.open else ''}{some([str(index) for index in turns.open], 10)}."
        f"{failed}"
    )
    details = {
        "total": turns.total,
        "done": done,
        "open": list(turns.open[:MAX_OPEN]),
        "failed": turns.failed,
    }
    return sentence, details


def _dead(run: Run, around: Around) -> Reason:
    letter = around.letters.get(run.pk)
    error = brief(run.error)
    if letter is None:
        why = (
            "in a test run, which creates no dead letters"
            if around.test
            else "and its dead letter was closed without a new attempt"
        )
        return Reason(
            "given_up",
            f"It failed permanently, {why}: {error}",
            since=run.finished_at,
            details={"errorType": run.error_type},
        )
    return Reason(
        "dead_letter",
        f"It failed permanently: {error} Dead letter {letter} is open: requeue or discard it.",
        since=run.finished_at,
        details={"deadLetterId": str(letter), "errorType": run.error_type},
    )


Check = Callable[[Run, Around], Reason | None]

PENDING: tuple[Check, ...] = (
    _execution_over,
    _execution_paused,
    _execution_without_place,
    _isolation_due,
    _retry_due,
    _no_runner_yet,
    _not_sent,
    _no_worker,
)
WAITS: Mapping[str, Callable[[Run, Around], Reason]] = {
    WaitKind.TIMER: _timer,
    WaitKind.APPROVAL: _approval,
    WaitKind.EVENT: _event,
    WaitKind.CALLBACK: _callback,
    WaitKind.CHILD: _child,
    WaitKind.CIRCUIT: _hold,
    WaitKind.QUOTA: _hold,
    WaitKind.BODY: _body,
}
