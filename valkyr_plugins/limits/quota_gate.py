"""The gate of quotas on module types and tokens: over one, a step sleeps and uses no attempt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.public.database import transaction
from executions.public.quotas import LENGTHS, Limit, QuotaWindow, count_use, start_of, tightest
from runners.public.gates import Asked, Failure, Wait, config, wake_all
from runners.public.models import Waiter, WaitKind
from valkyr_plugins.limits import statements
from valkyr_plugins.limits.known_limits import known
from valkyr_plugins.limits.models import Resource

# Quotas on what steps do: how many of a module type run at once, by the hour, by the day; tokens.
#
# A step takes a place and is counted in one short transaction before it runs, or neither; no limit
# on a module type is ever exceeded. Tokens are known after a step only, so the limit on them holds
# back the step after the one that reached it.


@dataclass(frozen=True, slots=True)
class Asking:
    """A step that wants to run: whose it is, what it is, and how long it may hold a place.

    `model` is the language model that its inputs name, or empty; `seconds` count from now.
    """

    workspace_id: UUID
    user_id: Any
    run_id: UUID
    module: str
    costs: bool
    model: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StepQuotaUse:
    """What a step has of its quotas: places it holds, windows in which it was counted."""

    asking: Asking
    holds: bool
    counted: tuple[tuple[int | None, str, datetime], ...]


@dataclass(frozen=True, slots=True)
class Over:
    """Which quota holds a step back: until its window ends, or (None) until a place is free."""

    quota_id: UUID
    until: datetime | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Rule:
    id: UUID
    user_id: Any
    resource: str
    target: str
    max_concurrent: int | None
    max_per_hour: int | None
    max_per_day: int | None
    used_hour: int
    used_day: int
    now: datetime

    def most(self, window: QuotaWindow) -> int | None:
        return self.max_per_hour if window == QuotaWindow.HOUR else self.max_per_day

    def used(self, window: QuotaWindow) -> int:
        return self.used_hour if window == QuotaWindow.HOUR else self.used_day


class _Refused(Exception):
    """Undoes the transaction in which a step was about to take what it needs."""

    def __init__(self, over: Over) -> None:
        super().__init__()
        self.over = over


def take(asking: Asking) -> StepQuotaUse | Over | None:
    """What the step needs of its quotas, all or nothing; None where none concerns it.

    Call it outside a transaction: others wait for the counters until it commits.
    """
    try:
        with transaction.atomic():
            rows = statements.fetch(
                "step_quotas",
                {
                    "workspace": asking.workspace_id,
                    "user": asking.user_id,
                    "module": asking.module,
                    "costs": asking.costs,
                    "model": asking.model,
                },
            )
            rules = [_Rule(*row) for row in rows]
            if not rules:
                return None
            _check_tokens([rule for rule in rules if rule.resource == Resource.TOKENS])
            mine = [rule for rule in rules if rule.resource == Resource.MODULE]
            holds = _hold(asking, [rule for rule in mine if rule.max_concurrent is not None])
            return StepQuotaUse(asking, holds, _count(asking, mine))
    except _Refused as refused:
        return refused.over


def undo(taken: StepQuotaUse) -> list[UUID]:
    """The step did not run: its places are free and it was not counted; the quotas with a place."""
    if taken.counted:
        users, windows, starts = zip(*taken.counted, strict=True)
        statements.fetch(
            "uncount_step",
            {
                "workspace": taken.asking.workspace_id,
                "target": taken.asking.module,
                "users": list(users),
                "windows": list(windows),
                "starts": list(starts),
            },
        )
    return let_go(taken)


def let_go(taken: StepQuotaUse) -> list[UUID]:
    """The step ended: its places are free; the quotas that have one more."""
    if not taken.holds:
        return []
    return [row[0] for row in statements.fetch("free_places", {"run": taken.asking.run_id})]


def _check_tokens(rules: Sequence[_Rule]) -> None:
    """Raise _Refused where a window's tokens are used up: the window that ends last decides."""
    full = [
        (start_of(window, rule.now) + LENGTHS[window], rule, window)
        for rule in rules
        for window in QuotaWindow
        if (most := rule.most(window)) is not None and rule.used(window) >= most
    ]
    if full:
        ends_at, rule, window = max(full, key=lambda found: found[0])
        raise _Refused(_over(rule, window, rule.most(window), rule.used(window), ends_at))


def _hold(asking: Asking, rules: Sequence[_Rule]) -> bool:
    """Take a place of each; whether there was any to take. Raises _Refused."""
    if not rules:
        return False
    statements.fetch("lock_quotas", {"quotas": [rule.id for rule in rules]})
    full = statements.fetch(
        "hold_places",
        {
            "quotas": [rule.id for rule in rules],
            "run": asking.run_id,
            "seconds": asking.seconds,
        },
    )
    if full:
        quota_id, held = full[0]
        rule = next(rule for rule in rules if rule.id == quota_id)
        raise _Refused(_over(rule, None, rule.max_concurrent, held, None))
    return True


def _count(asking: Asking, rules: Sequence[_Rule]) -> tuple[tuple[int | None, str, datetime], ...]:
    """Count the step in every window that is limited; raises _Refused."""
    limits = tightest(
        [
            Limit(rule.user_id, window, most, "")
            for rule in rules
            for window in QuotaWindow
            if (most := rule.most(window)) is not None
        ]
    )
    if not limits:
        return ()
    resource = Resource.MODULE.value
    rows = count_use(asking.workspace_id, limits, 1, resource=resource, target=asking.module)
    by_counter = {(limit.user_id, limit.window.value): limit for limit in limits}
    full = [
        (starts_at + LENGTHS[limit.window], limit, used - 1)
        for user_id, name, used, starts_at, _ in rows
        if used > (limit := by_counter[user_id, name]).most
    ]
    if full:
        ends_at, limit, used = max(full, key=lambda found: found[0])
        rule = next(rule for rule in rules if rule.user_id == limit.user_id)
        raise _Refused(_over(rule, limit.window, limit.most, used, ends_at))
    return tuple((user_id, name, starts_at) for user_id, name, _, starts_at, _ in rows)


def _over(
    rule: _Rule, window: QuotaWindow | None, limit: int | None, used: int, until: datetime | None
) -> Over:
    facts = {
        "quotaId": str(rule.id),
        "of": "workspace" if rule.user_id is None else "user",
        "resource": str(rule.resource),
        "target": rule.target,
        "window": None if window is None else window.value,
        "limit": limit,
        "used": used,
        "resetAt": None if until is None else until.isoformat(),
    }
    return Over(rule.id, until, facts)


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
        _wake_next(undo(self.taken))

    def ended(self, failure: Failure | None) -> None:
        """The step ran: its places are free."""
        _wake_next(let_go(self.taken))


def ask(asked: Asked) -> QuotaPermit | Wait | None:
    """A permit, a wait for the window's end or for a free place, or None where nothing limits.

    Without quotas on the module type, or on the tokens of one that costs, no query.
    """
    limited, workspace_id = known(), asked.context.version.workspace_id
    costs = asked.module.costs and workspace_id in limited.tokens
    if not costs and (workspace_id, asked.module.type) not in limited.modules:
        return None
    limits, timeout = config(), asked.work.step.timeout_seconds
    answer = take(
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
