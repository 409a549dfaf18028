"""Enforce quotas on steps: give them slots, count them, and hold steps whose quota is used up.

Quotas limit the steps of a module type, or the tokens of language models.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from executions.public.database import transaction
from executions.public.quotas import LENGTHS, QuotaWindow, start_of
from valkyr_plugins.limits import statements
from valkyr_plugins.limits.models import Resource

# Quotas on steps: the number of a module type's concurrent steps, steps per hour and per day, and
# tokens.
#
# In one short transaction before it runs, a step takes its slot and is counted, or neither. So no
# limit on a module type is ever exceeded. Tokens are known only after a step, so their limit holds
# the step after the one that reached it. Steps that are leased together take what they need in the
# transaction that leases them, in as many queries as one step: it first locks the quotas with
# slots, by ID, then the counters, in the order of `_Window`.


@dataclass(frozen=True, slots=True)
class Asking:
    """A step that wants to run: `user_id` is the principal of its execution.

    `token` is the run's lease token. `costs` says whether token quotas can apply. `model` is the
    language model that the inputs name, or empty. A slot may be held for `seconds` from now.
    """

    workspace_id: UUID
    user_id: Any
    run_id: UUID
    token: int
    module: str
    costs: bool
    model: str
    seconds: float


class _Window(NamedTuple):
    """The key of a counter of steps: workspace, module type, user, and hour or day."""

    workspace_id: UUID
    module: str
    user_id: Any
    window: str

    @property
    def order(self) -> tuple[Any, ...]:
        """Return the sort key for the order in which counters are locked."""
        user = "" if self.user_id is None else str(self.user_id)
        return str(self.workspace_id), self.module, user, self.window != QuotaWindow.HOUR


@dataclass(frozen=True, slots=True)
class StepQuotaUse:
    """A step's use of quotas: whether it holds slots, and the windows in which it was counted."""

    asking: Asking
    holds: bool
    counted: tuple[tuple[_Window, datetime], ...]


@dataclass(frozen=True, slots=True)
class Over:
    """The quota that holds a step until a time or, if `until` is None, until a slot is free."""

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


def take_all(askings: Sequence[Asking]) -> list[StepQuotaUse | Over | None]:
    """Give each step all its slots and count it, or do neither, in the order of the list.

    Return each step's use of quotas, the quota that is used up, or None if no quota applies. The
    number of queries does not depend on the number of steps.
    """
    if not askings:
        return []
    with transaction.atomic():
        rules = _rules_of(askings)
        mine = [[rule for rule in of if rule.resource == Resource.MODULE] for of in rules]
        over = _over_tokens(rules)
        over |= _without_place(askings, mine, over)
        counted, full = _count(askings, mine, over)
        over |= full
        holders = [
            (asking, [rule.id for rule in of if rule.max_concurrent is not None])
            for number, (asking, of) in enumerate(zip(askings, mine, strict=True))
            if number not in over
        ]
        _hold([(asking, quotas) for asking, quotas in holders if quotas])
    return [
        over.get(number)
        or (StepQuotaUse(asking, _limits_places(mine[number]), counted[number]) if of else None)
        for number, (asking, of) in enumerate(zip(askings, rules, strict=True))
    ]


def undo(taken: StepQuotaUse) -> list[UUID]:
    """Free a step's slots and subtract the step from the counters.

    Return the IDs of the quotas with a freed slot.
    """
    return undo_all([taken])


def undo_all(taken: Sequence[StepQuotaUse]) -> list[UUID]:
    """Free the slots of steps and subtract the steps from the counters.

    Return the IDs of the quotas with a freed slot.
    """
    _uncount(Counter(counted for one in taken for counted in one.counted))
    return free([(one.asking.run_id, one.asking.token) for one in taken if one.holds])


def free(leases: Sequence[tuple[UUID, int]]) -> list[UUID]:
    """Free the slots of ended leases; return the IDs of the quotas with a freed slot.

    A slot that a run took again under another token is not freed.
    """
    if not leases:
        return []
    runs, tokens = zip(*leases, strict=True)
    rows = statements.fetch("free_slots", {"runs": list(runs), "tokens": list(tokens)})
    return [row[0] for row in rows]


def _limits_places(rules: Sequence[_Rule]) -> bool:
    return any(rule.max_concurrent is not None for rule in rules)


def _rules_of(askings: Sequence[Asking]) -> list[list[_Rule]]:
    """Return the quotas that apply to each step, in the order of the steps."""
    found: list[list[_Rule]] = [[] for _ in askings]
    rows = statements.fetch(
        "step_quotas",
        {
            "workspaces": [asking.workspace_id for asking in askings],
            "users": [asking.user_id for asking in askings],
            "modules": [asking.module for asking in askings],
            "costs": [asking.costs for asking in askings],
            "models": [asking.model for asking in askings],
        },
    )
    for number, *row in rows:
        found[number - 1].append(_Rule(*row))
    return found


def _over_tokens(rules: Sequence[Sequence[_Rule]]) -> dict[int, Over]:
    """Return the used-up token quota of each step, keyed by step number; omit steps without one.

    If several windows are used up, the one that ends last counts.
    """
    over = {}
    for number, of in enumerate(rules):
        full = [
            (start_of(window, rule.now) + LENGTHS[window], rule, window)
            for rule in of
            if rule.resource == Resource.TOKENS
            for window in QuotaWindow
            if (most := rule.most(window)) is not None and rule.used(window) >= most
        ]
        if full:
            ends_at, rule, window = max(full, key=lambda found: found[0])
            over[number] = _over(rule, window, rule.most(window), rule.used(window), ends_at)
    return over


def _without_place(
    askings: Sequence[Asking], rules: Sequence[Sequence[_Rule]], over: Mapping[int, Over]
) -> dict[int, Over]:
    """Lock the quotas with slots; for each step without a free slot, return a full quota."""
    limited = {rule.id for of in rules for rule in of if rule.max_concurrent is not None}
    if not limited:
        return {}
    places = {"quotas": sorted(limited), "runs": [asking.run_id for asking in askings]}
    # The count is a separate statement after the lock, so that it sees what earlier holders of the
    # lock committed.
    _, rows = statements.fetch_together([("lock_quotas", places), ("count_slots", places)])
    held = Counter(dict(rows))
    without = {}
    for number, of in enumerate(rules):
        mine = [rule for rule in of if rule.max_concurrent is not None]
        full = next((rule for rule in mine if held[rule.id] >= (rule.max_concurrent or 0)), None)
        if number in over:
            continue
        if full is not None:
            without[number] = _over(full, None, full.max_concurrent, held[full.id], None)
        else:
            held.update(rule.id for rule in mine)
    return without


def _count(
    askings: Sequence[Asking], rules: Sequence[Sequence[_Rule]], over: Mapping[int, Over]
) -> tuple[list[tuple[tuple[_Window, datetime], ...]], dict[int, Over]]:
    """Count each step, except those in `over`, in all its limited windows, unless one is used up.

    Return each step's windows, and the used-up quotas of the uncounted steps, keyed by step number.
    """
    limits = [
        {}
        if number in over
        else {
            _Window(asking.workspace_id, asking.module, rule.user_id, window.value): rule
            for rule in of
            for window in QuotaWindow
            if rule.most(window) is not None
        }
        for number, (asking, of) in enumerate(zip(askings, rules, strict=True))
    ]
    wanted = Counter(window for of in limits for window in of)
    seen = _add(wanted)
    used = {window: seen[window][0] - more for window, more in wanted.items()}
    counted, full = list[tuple[tuple[_Window, datetime], ...]](), dict[int, Over]()
    for number, of in enumerate(limits):
        refused = [
            (seen[window][1] + LENGTHS[QuotaWindow(window.window)], window, rule)
            for window, rule in of.items()
            if used[window] >= (rule.most(QuotaWindow(window.window)) or 0)
        ]
        if refused:
            ends_at, window, rule = max(refused, key=lambda found: found[0])
            name = QuotaWindow(window.window)
            full[number] = _over(rule, name, rule.most(name), used[window], ends_at)
        else:
            for window in of:
                used[window] += 1
        counted.append(() if refused else tuple((window, seen[window][1]) for window in of))
    _uncount(
        Counter(
            {
                (window, starts_at): added - used[window]
                for window, (added, starts_at) in seen.items()
            }
        )
    )
    return counted, full


def _add(wanted: Mapping[_Window, int]) -> dict[_Window, tuple[int, datetime]]:
    """Add to these windows' counters and lock them; return each window's new count and start."""
    if not wanted:
        return {}
    windows = sorted(wanted, key=lambda window: window.order)
    workspaces, modules, users, names = map(list, zip(*windows, strict=True))
    rows = statements.fetch(
        "count_steps",
        {
            "workspaces": workspaces,
            "targets": modules,
            "users": users,
            "windows": names,
            "more": [wanted[window] for window in windows],
        },
    )
    return {_Window(*row[:4]): (row[4], row[5]) for row in rows}


def _uncount(counted: Mapping[tuple[_Window, datetime], int]) -> None:
    """Subtract the given counts from the counters."""
    found = sorted(
        ((window, at, less) for (window, at), less in counted.items() if less),
        key=lambda one: one[0].order,
    )
    if not found:
        return
    workspaces, modules, users, names = map(list, zip(*(one[0] for one in found), strict=True))
    statements.fetch(
        "uncount_steps",
        {
            "workspaces": workspaces,
            "targets": modules,
            "users": users,
            "windows": names,
            "starts": [at for _, at, _ in found],
            "less": [less for _, _, less in found],
        },
    )


def _hold(holders: Sequence[tuple[Asking, Sequence[UUID]]]) -> None:
    """Take a slot of each locked quota for each of these steps."""
    places = [(quota, asking) for asking, quotas in holders for quota in quotas]
    if places:
        statements.fetch(
            "take_slots",
            {
                "quotas": [quota for quota, _ in places],
                "runs": [asking.run_id for _, asking in places],
                "tokens": [asking.token for _, asking in places],
                "seconds": [asking.seconds for _, asking in places],
            },
        )


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
