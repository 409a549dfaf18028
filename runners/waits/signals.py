"""A signal is an event for one execution: it wakes those of its steps that wait for that name."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from executions.access.actor import Actor, record
from executions.definition.templating.refusal import Allowance, TimeSpent
from executions.errors import WrongState
from executions.models import WorkflowExecution
from runners.models import Waiter
from runners.states import WaitKind
from runners.waits import wake_runs
from runners.waits.listeners import EventTarget, Listener, Pair, listeners, meant

# What an error says an execution waits for instead, at most.
NAMED = 20
# CPU time for all filters: the caller is told who was woken, so they are evaluated in the request.
FILTER_SECONDS = 0.25


class NobodyWaits(WrongState):
    """No step of the execution waits for that signal."""

    code = "nobody_waits"


class FiltersTooCostly(WrongState):
    """The filters of the steps that wait take longer than a request has for them."""

    code = "filters_too_costly"


@dataclass(frozen=True, slots=True)
class Woken:
    """A run that goes on with the signal."""

    run_id: UUID
    step_path: str


def signal(execution: WorkflowExecution, name: str, payload: Any, *, actor: Actor) -> list[Woken]:
    """Wake the steps of an execution that wait for this name and whose filter holds.

    Returns those that go on. Raises NobodyWaits, which names what the execution waits for, and
    FiltersTooCostly.
    """
    call = EventTarget(execution.workspace_id, name, payload, execution_id=execution.pk)
    allowance = Allowance(FILTER_SECONDS)
    try:
        # Filters are looked at before anything is locked.
        found = [(batch, meant(batch, payload, allowance)) for batch in listeners(call)]
    except TimeSpent:
        raise FiltersTooCostly(
            f"The filters of the steps that wait for {name!r} take more than {FILTER_SECONDS:g} s, "
            "so no step was woken. Publish an event of this name instead: a worker evaluates the "
            "filters then.",
            execution.state,
        ) from None
    woken: list[Woken] = []
    with transaction.atomic():
        for batch, pairs in found:
            woken += _wake(batch, pairs, name, payload)
        if woken:
            record(
                actor,
                "execution.signal",
                workspace_id=execution.workspace_id,
                object_type="WorkflowExecution",
                object_id=execution.pk,
                details={"name": name, "woken": len(woken)},
            )
    if not woken:
        passed = sum(len(batch) for batch, _ in found)
        raise NobodyWaits(_sentence(execution.pk, name, passed), execution.state)
    return woken


def _wake(batch: list[Listener], pairs: list[Pair], name: str, payload: Any) -> list[Woken]:
    """Wake some; those that something else woke meanwhile are left out."""
    waking = {"by": "event", "event": name, "eventId": None, "payload": payload}
    woken = wake_runs.wake_each(pairs, [WaitKind.EVENT], waking)
    return [Woken(one.run_id, one.path) for one in batch if one.run_id in woken]


def _sentence(execution_id: UUID, name: str, passed: int) -> str:
    if passed:
        steps = "1 step waits" if passed == 1 else f"{passed} steps wait"
        return f"{steps} for {name!r}, but no filter lets this payload pass."
    waiters = Waiter.objects.filter(execution_id=execution_id).order_by("created_at")
    known = Counter(
        f"{kind} {key!r}" if kind == WaitKind.EVENT else kind
        for kind, key in waiters.values_list("kind", "key")[:1_000]
    )
    others = ", ".join(f"{what} ({n} steps)" if n > 1 else what for what, n in known.items())
    if len(known) > NAMED:
        others = ", ".join(list(known)[:NAMED]) + " and more"
    return f"No step waits for {name!r}; the execution waits for {others or 'nothing outside'}."
