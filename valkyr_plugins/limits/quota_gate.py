"""The gate of quotas on module types and tokens: a step over a quota waits and uses no attempt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from executions.public.database import transaction
from runners.public.gates import Asked, Failure, Wait, config, wake_all
from runners.public.models import Waiter, WaitKind
from valkyr_plugins.limits.known_limits import known
from valkyr_plugins.limits.step_quotas import (
    Asking,
    Over,
    StepQuotaUse,
    free,
    take_all,
    undo,
    undo_all,
)

# The end of a step wakes the next step in the queue. If that message is lost, waiting steps check
# for themselves: soon at first, then at intervals as long as their wait so far, so that a long
# queue costs little.
SHORTEST_LOOK = 1.0
LONGEST_LOOK = 30.0
MOST_TRIED = 10


@dataclass(frozen=True, slots=True)
class QuotaPermit:
    """The slots that a step took, and the quotas that counted it.

    If the step ran, its counts are kept, regardless of its result.
    """

    taken: StepQuotaUse
    timeout: None = None

    @property
    def kept(self) -> dict[str, Any] | None:
        """Return {} if the step holds slots, otherwise None.

        The run and its lease's token identify the permit.
        """
        return {} if self.taken.holds else None

    def undo(self) -> None:
        """Free the slots of a step that did not run, and subtract the step from the counters.

        The step did not run because another gate stopped it, or because its lease was lost.
        """
        _wake_next(undo(self.taken))

    def ended(self, failure: Failure | None) -> None:
        """Free the slots of a step that ran."""
        self.lost()

    def lost(self) -> None:
        """Free the slots of a lease that is over."""
        if self.taken.holds:
            _wake_next(free([(self.taken.asking.run_id, self.taken.asking.token)]))


@dataclass(frozen=True, slots=True)
class LeasedPlaces:
    """The slots of a lease, identified by its run and token."""

    run_id: UUID
    token: int
    timeout: None = None

    @property
    def kept(self) -> dict[str, Any]:
        """Return {}: the run and its lease's token identify the slots."""
        return {}

    def undo(self) -> None:
        """Free the slots of a step that did not run."""
        self.lost()

    def ended(self, failure: Failure | None) -> None:
        """Free the slots of a step that ran."""
        self.lost()

    def lost(self) -> None:
        """Free the slots of a lease that is over."""
        _wake_next(free([(self.run_id, self.token)]))


def ask(asked: Asked) -> QuotaPermit | Wait | None:
    """Return a permit, a wait, or None if no quota applies.

    The step waits for the end of a window or for a free slot. Queries the quotas only if the
    workspace has one on the module type or, for a module with costs, on tokens.
    """
    return ask_all([asked])[0]


def ask_all(asked: Sequence[Asked]) -> list[QuotaPermit | Wait | None]:
    """Check the quotas of steps that are leased together; return the results of `ask`."""
    askings = [_asking(one) for one in asked]
    taken = iter(take_all([asking for asking in askings if asking is not None]))
    return [
        None if asking is None else _answer(next(taken), one)
        for asking, one in zip(askings, asked, strict=True)
    ]


def undo_permits(permits: Sequence[QuotaPermit]) -> None:
    """Free the slots of steps that another gate stopped; subtract the steps from the counters."""
    _wake_next(undo_all([permit.taken for permit in permits]))


def restore(run_id: UUID, token: int, kept: Any) -> LeasedPlaces:
    """Return the slots of a lease as a permit."""
    return LeasedPlaces(run_id, token)


def _answer(taken: StepQuotaUse | Over | None, asked: Asked) -> QuotaPermit | Wait | None:
    if isinstance(taken, Over):
        return _wait(taken, asked.work.held_seconds)
    return None if taken is None else QuotaPermit(taken)


def _asking(asked: Asked) -> Asking | None:
    """Return the step's request to the quotas; None if no quota can apply."""
    limited, workspace_id = known(), asked.context.version.workspace_id
    costs = workspace_id in limited.tokens and asked.costs
    if not costs and (workspace_id, asked.module.type) not in limited.modules:
        return None
    limits, timeout = config(), asked.work.step.timeout_seconds
    return Asking(
        workspace_id=workspace_id,
        user_id=asked.context.principal_id,
        run_id=asked.work.run_id,
        token=asked.work.token,
        module=asked.module.type,
        costs=costs,
        model=_model(asked),
        # After this time, the run is over: it timed out, or it was taken over and checked again.
        seconds=timeout + limits.grace + limits.lease,
    )


def _model(asked: Asked) -> str:
    """Return the model that the step's inputs name, for quotas on its tokens, or ""."""
    value = asked.work.prepared.value if asked.work.prepared is not None else None
    name = value.get("model") if isinstance(value, dict) else None
    return name if isinstance(name, str) else ""


def _wait(over: Over, held_seconds: float) -> Wait:
    if over.until is not None:
        return Wait(WaitKind.QUOTA, until=over.until, facts=over.facts)
    seconds = min(max(held_seconds / 2, SHORTEST_LOOK), LONGEST_LOOK)
    return Wait(WaitKind.QUOTA, seconds=seconds, key=str(over.quota_id), facts=over.facts)


def _wake_next(quota_ids: Sequence[UUID]) -> None:
    """After the commit, wake the run that has waited longest for each of these quotas."""
    if quota_ids:
        transaction.on_commit(partial(_wake_first, quota_ids), robust=True)


def _wake_first(quota_ids: Iterable[UUID]) -> None:
    for quota_id in quota_ids:
        line = Waiter.objects.filter(kind=WaitKind.QUOTA, key=str(quota_id)).order_by("created_at")
        for pair in line.values_list("run_id", "execution_id")[:MOST_TRIED]:
            with transaction.atomic():
                if wake_all([pair], [WaitKind.QUOTA], {"by": "quota"}):
                    break
