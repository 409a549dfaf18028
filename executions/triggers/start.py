"""The only module that starts executions: every entry point and trigger uses it.

The payload is checked before any execution is written. An execution that need not wait is written
in one transaction with its first runs; messages are sent after the commit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from executions import payloads
from executions.access.actor import Actor, AuditLine, record, recording
from executions.admission import concurrency, joined
from executions.admission.capacity import (
    admit,
    admitted,
    announce,
    check_waiting,
    hold,
    take_places,
    unlocked,
)
from executions.admission.concurrency import ConcurrencyKey
from executions.database import transaction
from executions.database.ids import uuid7
from executions.database.statements import BoundStatement
from executions.definition.graph.model import Concurrency
from executions.definition.json_schema.budget import one_request
from executions.definition.versions import SCHEMA_BUDGET
from executions.errors import (
    InvalidPayload,
    KeyReused,
)
from executions.events import execution_admitted, executions_asked, executions_started
from executions.labels.rendering import RenderedLabels, render_all
from executions.models import Trigger, Workflow, WorkflowExecution, WorkflowVersion, Workspace
from executions.observability import metrics, tracing
from executions.payload_store import writing
from executions.ports import first_runs
from executions.quotas import Ceilings, count
from executions.sealing import payload_keys
from executions.states import CapacityState, ExecutionState, TriggerType
from executions.triggers import conflicts
from executions.triggers.canary_share import by_version, with_shares
from executions.triggers.inserting import insert
from executions.triggers.request import (
    Branch,
    ParentRun,
    StartRequest,
    check,
    chosen_priority,
    chosen_version,
)
from executions.triggers.stored_input import row_of, stored, value_of

# No limit on the hashed bytes, because the payload's check that follows has one.
MOST_HASHED = 2**31


@dataclass(frozen=True, slots=True)
class Started:
    """An execution, and whether this call created it, or an earlier call with the same key did."""

    execution: WorkflowExecution
    created: bool


def start_execution(  # noqa: PLR0913 - one door for all, each names what it knows
    workflow: Workflow,
    payload: Any,
    *,
    actor: Actor,
    trigger_type: str = TriggerType.MANUAL,
    priority: int | None = None,
    version: int | UUID | None = None,
    idempotency_key: str | None = None,
    trigger: Trigger | None = None,
    branch: Branch | None = None,
    trial: WorkflowVersion | None = None,
    reason: str = "",
    joined: bool = False,
) -> Started:
    """Start one execution of the latest (or the given) version, or as a `branch` of another.

    A canary version is started instead of the latest version for its share of keys.

    `trial` is the version of a test run. For a known idempotency key, returns the earlier
    execution. `trigger` is the trigger that caused the start, if any.

    `joined` starts the execution as part of the caller's transaction, which may stay open for a
    long time. With limits or a concurrency key, the execution is then counted and admitted only
    after the commit. If the key is taken, the execution waits, regardless of the conflict rule.
    Limits are first checked without a lock, so a start over a limit is rejected. Starts in other
    open transactions are not visible, so the execution may still have to wait for a free slot.

    A large payload is written to the payload store first; a caller that begins a transaction calls
    `stored_input.stored` before it. Raises InvalidPayload, NotPublished, WorkflowDisabled, NotFound
    (version), KeyReused, QuotaExceeded, ConcurrencyConflict, or PayloadStoreUnavailable.
    """
    request = StartRequest(
        workflow,
        chosen_version(workflow, version, branch, trial),
        chosen_priority(priority),
        trigger_type,
        branch=branch,
        trigger=trigger,
        joined=joined,
    )
    if version is None and branch is None and trial is None:
        [request] = with_shares(request, [value_of(payload)], idempotency_key)
    fingerprint = ""
    if idempotency_key is not None:
        fingerprint = _fingerprint(value_of(payload), version, priority)
        known = _known(workflow, idempotency_key, fingerprint)
        if known is not None:
            return Started(known, created=False)
    payload = stored(workflow.workspace_id, payload)
    text = check(request.version, payload)
    try:
        with transaction.atomic():
            [execution] = _insert(
                request,
                [payload],
                [text],
                actor,
                idempotency_key=idempotency_key,
                hashed=fingerprint,
                reason=reason,
            )
    except IntegrityError:
        if idempotency_key is None:
            raise
        known = _known(workflow, idempotency_key, fingerprint)
        if known is None:
            raise
        return Started(known, created=False)
    return Started(execution, created=True)


def start_child(
    workflow: Workflow,
    payload: Any,
    *,
    parent: ParentRun,
    key: str,
    actor: Actor,
    version: int | None = None,
) -> WorkflowExecution:
    """Start one execution as a child of `parent`, once per key; the caller holds the parent's lock.

    The child runs immediately, without a concurrency key or a slot. Raises InvalidPayload,
    NotPublished, WorkflowDisabled, or NotFound (version).
    """
    request = StartRequest(
        workflow,
        chosen_version(workflow, version),
        parent.priority,
        parent.trigger_type,
        parent=parent,
    )
    if version is None:
        [request] = with_shares(request, [value_of(payload)], key)
    text = check(request.version, payload, "input")
    with transaction.atomic():
        return _insert(request, [payload], [text], actor, idempotency_key=key)[0]


def start_batch(
    workflow: Workflow,
    payload_list: Sequence[Any],
    *,
    actor: Actor,
    trigger_type: str = TriggerType.MANUAL,
    priority: int | None = None,
    version: int | UUID | None = None,
    joined: bool = False,
) -> list[WorkflowExecution]:
    """Start one execution per payload, all or none, in one transaction, in the payloads' order.

    Raises the errors of `start_execution`; InvalidPayload lists the problems of every payload,
    until the budget of the checks is used up.
    """
    request = StartRequest(
        workflow,
        chosen_version(workflow, version),
        chosen_priority(priority),
        trigger_type,
        joined=joined,
    )
    requests = [request] * len(payload_list)
    if version is None:
        requests = with_shares(request, [value_of(payload) for payload in payload_list])
    payload_list = [stored(workflow.workspace_id, payload) for payload in payload_list]
    problems: list[Any] = []
    texts: list[str] = []
    with one_request(len(payload_list)):
        for number, payload in enumerate(payload_list):
            try:
                texts.append(check(requests[number].version, payload, f"payloads[{number}]"))
            except InvalidPayload as error:
                problems.extend(error.problems)
                if any(problem.code == SCHEMA_BUDGET for problem in error.problems):
                    break
    if problems:
        raise InvalidPayload("Some payloads do not match the workflow's input schema.", problems)
    with transaction.atomic():
        if requests and workflow.canary_version_id is not None:
            return _insert_by_version(requests, payload_list, texts, actor)
        return _insert(request, payload_list, texts, actor)


def owe_execution(
    workflow: Workflow,
    payload: Any,
    *,
    actor: Actor,
    failure_of: WorkflowExecution,
    key: str,
    reason: str,
) -> WorkflowExecution:
    """Insert an execution of an error workflow; the execution waits for admission.

    The insert locks no counter or concurrency key and counts against no quota, so it can join the
    transaction in which another execution ends. The conflict rule of the key does not apply. Raises
    InvalidPayload, NotPublished, WorkflowDisabled or PayloadStoreUnavailable.
    """
    request = StartRequest(workflow, chosen_version(workflow, None), -1, TriggerType.EVENT)
    [request] = with_shares(request, [payload], key)
    text = check(request.version, payload)
    rule = request.version.graph.concurrency
    [taken] = concurrency.render_all(rule, workflow.pk, [payload])
    own_id = next(iter(request.ids), None)
    execution = _execution(request, payload, running=False, key=key, hashed="", own_id=own_id)
    rendered = render_all(request.version.graph.labels, [payload])
    execution.labels = rendered.each[0]
    execution.failure_of, execution.principal_id = failure_of, failure_of.principal_id
    if rule is not None and taken is not None:
        execution.concurrency_key, execution.concurrency_limit = taken.text, rule.limit
    _insert_rows([execution], [text], key=payload_keys.current(workflow.workspace_id))
    tracing.started([execution], workflow, request.version.number)
    metrics.started(request.trigger_type, 1)
    record(
        actor,
        "execution.start",
        workspace_id=workflow.workspace_id,
        object_type="WorkflowExecution",
        object_id=execution.pk,
        reason=reason,
        details=_details(request, [execution], rendered.problems),
    )
    metrics.left_out(len(rendered.problems))
    transaction.on_commit(partial(admit, workflow.workspace_id), robust=True)
    return execution


def _insert_by_version(
    requests: Sequence[StartRequest],
    payload_list: Sequence[Any],
    texts: Sequence[str],
    actor: Actor,
) -> list[WorkflowExecution]:
    """Insert a batch for the latest and the canary version, one version after the other."""
    made: dict[int, WorkflowExecution] = {}
    for version, numbers in by_version(requests):
        together = replace(version, more=len(made) + len(numbers) < len(requests))
        chosen = [payload_list[n] for n in numbers]
        found = _insert(together, chosen, [texts[n] for n in numbers], actor)
        made.update(zip(numbers, found, strict=True))
    return [made[number] for number in range(len(requests))]


def _insert(
    request: StartRequest,
    payload_list: Sequence[Any],
    texts: Sequence[str],
    actor: Actor,
    *,
    idempotency_key: str | None = None,
    hashed: str = "",
    reason: str = "",
) -> list[WorkflowExecution]:
    workspace_id = request.workflow.workspace_id
    rule = None if request.parent else request.version.graph.concurrency
    values = [value_of(payload) for payload in payload_list]
    keys = concurrency.render_all(rule, request.workflow.pk, values)
    rendered = _labels(request, values)
    # Only root executions are counted; their children are not.
    tier = None if request.parent else _limits(request, actor)
    if tier is not None:
        executions_asked.send(Workspace, workspace_id=workspace_id, user_id=actor.user_id)
        if not request.joined:
            count(workspace_id, tier, len(payload_list))
    verdict = _verdict(request, tier, rule, keys)
    running = list(verdict.may_run)
    asked = False
    if request.joined and tier is not None:
        asked = _ask(tier, workspace_id, running)
    elif tier is not None:
        running = take_places(tier, workspace_id, verdict.may_run)
        check_waiting(tier, workspace_id, running.count(False) - verdict.replaced.count(True))
    principal_id = request.parent.principal_id if request.parent else actor.user_id
    executions = [
        _execution(
            request,
            row_of(payload),
            running=now_on,
            key=idempotency_key,
            hashed=hashed,
            principal_id=principal_id,
            asked=asked,
            own_id=own_id,
        )
        for payload, now_on, own_id in zip(
            payload_list, running, request.ids or [None] * len(running), strict=True
        )
    ]
    if rule is not None:
        for execution, key in zip(executions, keys, strict=True):
            execution.concurrency_key = None if key is None else key.text
            execution.concurrency_limit = None if key is None else rule.limit
    for execution, found in zip(executions, rendered.each, strict=True):
        execution.labels = found
    branch = request.branch
    fresh = branch is None or not branch.point
    started = [admitted(e, fresh=fresh) for e in compress(executions, running)]
    line = AuditLine(
        action="execution.start",
        workspace_id=workspace_id,
        object_type="WorkflowExecution",
        object_id=executions[0].pk if executions else request.workflow.pk,
        reason=reason,
        details=_details(request, executions, rendered.problems),
    )
    more = (recording(actor, line), *(first_runs(started) if fresh else ()))
    sealing_key = payload_keys.current(workspace_id) if tier is None else tier.sealing_key
    _insert_rows(executions, texts, *more, last=_is_last(request, verdict), key=sealing_key)
    tracing.started(executions, request.workflow, request.version.number)
    metrics.started(request.trigger_type, len(executions))
    metrics.left_out(len(rendered.problems))
    if branch is not None and branch.prepare is not None:
        branch.prepare(executions[0])
    if started:
        announce(started, WorkflowExecution)
    conflicts.cancel_replaced([e.pk for e in compress(executions, verdict.replaced)])
    return executions


def _insert_rows(
    executions: Sequence[WorkflowExecution],
    texts: Sequence[str],
    *more: BoundStatement,
    last: bool = False,
    key: int | None,
) -> None:
    """Insert executions, which then use the stored values that their payloads refer to.

    Raises PayloadStoreUnavailable if a stored value was collected after it was stored.
    """
    pairs = zip(executions, texts, strict=True)
    refer = [(one.pk, one.trigger_payload) for one, text in pairs if payloads.STORED in text]
    insert(executions, texts, *more, last=last and not refer, key=key)
    if refer:
        writing.keep_each(refer, all_there=True)


def _fingerprint(payload: Any, version: int | UUID | None, priority: int | None) -> str:
    asked = str(version) if isinstance(version, UUID) else version
    return payloads.digest(payloads.dump([payload, asked, priority], "payload", MOST_HASHED))


def _labels(request: StartRequest, payload_list: Sequence[Any]) -> RenderedLabels:
    """Return the labels of new executions; a replay or a fork has its origin's labels."""
    if request.branch is not None:
        return RenderedLabels([request.branch.labels] * len(payload_list))
    return render_all(request.version.graph.labels, payload_list)


def _is_last(request: StartRequest, verdict: conflicts.ConflictVerdict) -> bool:
    """Return whether the transaction may commit together with the insert of the rows."""
    return (
        not request.more
        and request.branch is None
        and not any(verdict.replaced)
        and bool(request.version.graph.tasks)
        and not executions_started.has_listeners(WorkflowExecution)
        and not execution_admitted.has_listeners(WorkflowExecution)
    )


def _limits(request: StartRequest, actor: Actor) -> Ceilings:
    """Return the workspace's limits; a joined start locks nothing, so that no other start waits."""
    take = unlocked if request.joined else hold
    return take(request.workflow.workspace_id, actor.user_id)


def _verdict(
    request: StartRequest,
    tier: Ceilings | None,
    rule: Concurrency | None,
    keys: list[ConcurrencyKey | None],
) -> conflicts.ConflictVerdict:
    """Decide which executions may run immediately.

    A joined start holds no locks: either all of its executions may run, or none.
    """
    if not request.joined:
        return conflicts.settle(rule, keys)
    waits = tier is not None and (tier.max_concurrent is not None or bool(tier.limits) or any(keys))
    return conflicts.ConflictVerdict([not waits] * len(keys), [False] * len(keys))


def _ask(tier: Ceilings, workspace_id: UUID, running: list[bool]) -> bool:
    """After the commit, request the admission of joined starts that wait.

    Returns whether they are counted after the commit. Raises QuotaExceeded if a check without a
    lock finds that they exceed a limit.
    """
    if all(running):
        return False
    joined.check(tier, workspace_id, len(running))
    later = joined.is_counted_later(tier)
    transaction.on_commit(partial(joined.enter if later else admit, workspace_id), robust=True)
    return later


def _execution(
    request: StartRequest,
    payload: Any,
    *,
    running: bool,
    key: str | None,
    hashed: str,
    principal_id: Any = None,
    asked: bool = False,
    own_id: UUID | None = None,
) -> WorkflowExecution:
    graph = request.version.graph
    priority = graph.priority if request.priority < 0 else request.priority
    return WorkflowExecution(
        id=own_id or uuid7(),
        workspace_id=request.workflow.workspace_id,
        workflow_id=request.workflow.pk,
        version_id=request.version.id,
        canary=request.canary,
        state=ExecutionState.RUNNING if running else ExecutionState.PENDING,
        place=CapacityState.ASKED if asked else CapacityState.HELD,
        trigger_type=request.trigger_type,
        trigger=request.trigger,
        trigger_payload=payload,
        context_data=dict(graph.variables),
        priority=priority,
        principal_id=principal_id,
        idempotency_key=key,
        request_hash=hashed,
        timeout_seconds=graph.timeout_seconds,
        trace_id=tracing.new_trace(own=request.parent is not None),
        origin_id=request.branch.origin_id if request.branch else None,
        origin_point=request.branch.point if request.branch else "",
        parent_id=request.parent.execution_id if request.parent else None,
        parent_run_id=request.parent.run_id if request.parent else None,
        depth=request.parent.depth + 1 if request.parent else 0,
        failure_of_id=request.parent.failure_of if request.parent else None,
    )


def _details(
    request: StartRequest,
    executions: list[WorkflowExecution],
    left_out: Mapping[str, str],
) -> dict[str, Any]:
    details: dict[str, Any] = {
        "workflowId": str(request.workflow.pk),
        "version": request.version.number,
        "triggerType": request.trigger_type,
    }
    if request.parent:
        details["parentExecutionId"] = str(request.parent.execution_id)
    if left_out:
        details["labelsLeftOut"] = dict(left_out)
    if len(executions) > 1:
        details["executionIds"] = [str(execution.pk) for execution in executions]
    return details


def _known(workflow: Workflow, key: str, fingerprint: str) -> WorkflowExecution | None:
    execution = WorkflowExecution.objects.filter(workflow=workflow, idempotency_key=key).first()
    if execution is not None and execution.request_hash != fingerprint:
        raise KeyReused(
            f"The idempotency key {key!r} started execution {execution.pk} with another body. "
            "Use a new key for a new request."
        )
    return execution
