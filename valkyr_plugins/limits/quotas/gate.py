"""The gate of quotas on module types and tokens: over one, a step sleeps and uses no attempt."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from runners.public.gates import Asked, Failure, Wait, config, wake_all
from runners.public.models import Waiter, WaitKind
from valkyr_plugins.limits.known import known
from valkyr_plugins.limits.quotas import steps
from valkyr_plugins.limits.quotas.steps import Asking, Over, StepQuotaUse

# Whoever ends wakes the next in line. Should that get lost, those in line look by themselves: soon
# at first, then as seldom as they have waited long, so that a long line costs little.
SHORTEST_LOOK = 1.0
LONGEST_LOOK = 30.0
MOST_TRIED = 10


@dataclass(frozen=True, slots=True)
class QuotaPermit:
    """A step's places; its counts stay where it ran, however it ended."""

    taken: StepQuotaUse
    timeout: None = None

    def undo(self) -> None:
        """Another gate held the step back."""
        _wake_next(steps.undo(self.taken))

    def ended(self, failure: Failure | None) -> None:
        """The step ran: its places are free."""
        _wake_next(steps.let_go(self.taken))


def ask(asked: Asked) -> QuotaPermit | Wait | None:
    """A permit, a wait for the window's end or for a free place, or None where nothing limits.

    Without quotas on the module type, or on the tokens of one that costs, no query.
    """
    limited, workspace_id = known(), asked.context.version.workspace_id
    costs = asked.module.costs and workspace_id in limited.tokens
    if not costs and (workspace_id, asked.module.type) not in limited.modules:
        return None
    limits, timeout = config(), asked.work.step.timeout_seconds
    answer = steps.take(
        Asking(
            workspace_id=workspace_id,
            user_id=asked.context.principal_id,
            run_id=asked.work.run_id,
            module=asked.module.type,
            costs=costs,
            model=_model(asked),
            # By then the run is over: out of time, or taken over and asked about again.
            seconds=timeout + limits.grace + limits.lease,
        )
    )
    if isinstance(answer, Over):
        return _wait(answer, asked.work.held_seconds)
    return None if answer is None else QuotaPermit(answer)


def _model(asked: Asked) -> str:
    """The model that the step's inputs name; a quota on one model's tokens holds such steps."""
    value = asked.work.prepared.value if asked.work.prepared is not None else None
    name = value.get("model") if isinstance(value, dict) else None
    return name if isinstance(name, str) else ""


def _wait(over: Over, held_seconds: float) -> Wait:
    if over.until is not None:
        return Wait(WaitKind.QUOTA, until=over.until, facts=over.facts)
    seconds = min(max(held_seconds / 2, SHORTEST_LOOK), LONGEST_LOOK)
    return Wait(WaitKind.QUOTA, seconds=seconds, key=str(over.quota_id), facts=over.facts)


def _wake_next(quota_ids: Iterable[UUID]) -> None:
    """Wake who waits longest for a place of each quota, and is not being woken already."""
    for quota_id in quota_ids:
        line = Waiter.objects.filter(kind=WaitKind.QUOTA, key=str(quota_id)).order_by("created_at")
        for pair in line.values_list("run_id", "execution_id")[:MOST_TRIED]:
            with transaction.atomic():
                if wake_all([pair], [WaitKind.QUOTA], {"by": "quota"}):
                    break
