"""Quotas: their values, their use, and the reasons for held steps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count

from executions.public.database import ClockTimestamp
from executions.public.definitions import DefinitionProblem, catalog
from executions.public.quotas import Counter, Present, QuotaWindow, Window, present
from runners.public.explain import HeldRuns, Reason, at
from runners.public.models import Run
from valkyr_plugins.limits.limit_kind import LimitExists, LimitKind, LimitRefused
from valkyr_plugins.limits.models import Quota, QuotaHold, Resource

# Check the values of quotas: each resource supports certain limits.


LIMITS = ("max_concurrent", "max_per_hour", "max_per_day")
MAX_TARGET = 100


class QuotaExists(LimitExists):
    """This quota already exists. Change it instead."""

    code = "quota_exists"


class QuotaRefused(LimitRefused):
    """The quota sets no limit, or a limit that its resource cannot have."""

    code = "quota_refused"


def check(quota: Quota) -> None:
    """Raise QuotaRefused for a wrong resource or target, or for missing or unsuitable limits."""
    problems = [*_resource(quota), *_limits(quota)]
    if problems:
        raise QuotaRefused(" ".join(problem.message for problem in problems), problems)


def described(quota: Quota) -> str:
    """Return the quota's resource as text, such as `steps of http.request`."""
    if quota.resource == Resource.MODULE:
        return f"steps of {quota.target}"
    if quota.resource == Resource.TOKENS:
        return f"tokens of {quota.target}" if quota.target else "tokens of all models"
    return "executions"


def _resource(quota: Quota) -> list[DefinitionProblem]:
    if quota.resource == Resource.MODULE:
        return _module(quota.target)
    if quota.resource == Resource.TOKENS:
        good = quota.target.isprintable() and len(quota.target) <= MAX_TARGET
        return [] if good else [_target("unknown", "A model's name has at most 100 characters.")]
    if quota.resource != Resource.EXECUTIONS:
        known = ", ".join(Resource.values)
        message = f"{quota.resource!r} is not one of: {known}."
        return [DefinitionProblem("resource", "unknown", message)]
    if quota.target:
        return [
            _target("not_wanted", ("A quota on executions counts all executions; omit the target."))
        ]
    return []


def _module(name: str) -> list[DefinitionProblem]:
    spec = catalog().get(name)
    if not name:
        return [_target("required", "Name the module type whose steps are limited.")]
    if spec is None:
        return [_target("unknown", f"There is no module type {name[:MAX_TARGET]!r}.")]
    if spec.inline:
        why = "runs in memory together with other steps and cannot be held"
    elif spec.container:
        why = "runs only its body; limit the module types in the body"
    else:
        return []
    return [_target("cannot_be_limited", f"The module type {name!r} {why}.")]


def _limits(quota: Quota) -> list[DefinitionProblem]:
    if quota.max_concurrent is not None and quota.resource == Resource.EXECUTIONS:
        message = "The workspace's tier limits how many executions run at once."
        return [DefinitionProblem("maxConcurrent", "not_wanted", message)]
    if quota.max_concurrent is not None and quota.resource == Resource.TOKENS:
        message = "Tokens are counted after a step; set maxPerHour, maxPerDay or both."
        return [DefinitionProblem("maxConcurrent", "not_wanted", message)]
    if all(getattr(quota, name) is None for name in LIMITS):
        message = "A quota needs a limit: set maxPerHour, maxPerDay or both."
        if quota.resource == Resource.MODULE:
            message = "A quota needs a limit: set maxConcurrent, maxPerHour or maxPerDay."
        return [DefinitionProblem("maxPerHour", "no_limit", message)]
    return []


def _target(code: str, message: str) -> DefinitionProblem:
    return DefinitionProblem("target", code, message)


class QuotaKind(LimitKind[Quota]):
    """The kind of limit `quota`: each quota has one resource and one target."""

    model = Quota
    noun = "quota"
    changeable = LIMITS
    refused = QuotaRefused
    exists = QuotaExists
    members_only = "Only a member can have a quota."

    def check(self, limit: Quota) -> None:
        """Raise QuotaRefused for a wrong resource or target, or missing or unsuitable limits."""
        check(limit)

    def facts(self, limit: Quota) -> dict[str, Any]:
        """Return the limited user, the resource, the target and the limits."""
        return {name: getattr(limit, name) for name in ("user_id", "resource", "target", *LIMITS)}

    def already(self, limit: Quota, whose: str) -> str:
        """Return the error text for a quota that already exists."""
        on = described(limit)
        return f"There is already a quota for {whose} on {on}. Change that quota."


QUOTAS = QuotaKind()


# The use of quotas in the current windows, for display.


@dataclass(frozen=True, slots=True)
class QuotaUses:
    """The current use of quotas: their counters, and the held slots, keyed by quota ID."""

    counters: Present
    held: Mapping[UUID, int]

    def running(self, quota: Quota) -> int | None:
        """Return how many steps hold a slot of a quota; None if it does not limit slots."""
        return None if quota.max_concurrent is None else self.held.get(quota.pk, 0)

    def window(self, quota: Quota, name: QuotaWindow, limit: int | None) -> Window:
        """Return the use of one window of a quota, with its limit."""
        return self.counters.window(_counter_of(quota), name, limit)


def uses_of(quotas: Sequence[Quota]) -> QuotaUses:
    """Return the current use of each quota.

    Uses two queries, and one more if there are slots to count.
    """
    counted = [quota.pk for quota in quotas if quota.max_concurrent is not None]
    return QuotaUses(present(map(_counter_of, quotas)), _held(counted))


def _counter_of(quota: Quota) -> Counter:
    return Counter(quota.workspace_id, quota.user_id, quota.resource, quota.target)


def _held(quota_ids: Collection[UUID]) -> dict[UUID, int]:
    if not quota_ids:
        return {}
    live = QuotaHold.objects.filter(quota__in=quota_ids, until__gt=ClockTimestamp())
    counts = live.values("quota").annotate(count=Count("pk")).order_by()
    return dict(counts.values_list("quota", "count"))


# Explain why a quota holds a step, from the data that the gate recorded. Pure.


RAISE = "Users who may configure the workspace can raise the quota"


def reasons(held: HeldRuns) -> Mapping[UUID, Reason]:
    """Return the reason why each of these runs is waiting, keyed by run ID."""
    return {run.pk: held_reason(run, held.since[run.pk]) for run in held.runs}


def held_reason(run: Run, since: datetime | None) -> Reason:
    """Return the reason for a hold: the quota, when the step tries again, and what to do."""
    facts = run.progress or {}
    limit, used = int(facts.get("limit") or 0), int(facts.get("used") or 0)
    what = described_hold(facts)
    if facts.get("window"):
        sentence = (
            f"The {what} is used up: {used:,} of {limit:,} this {facts['window']} (UTC). It "
            f"continues at {at(run.due_at)}, when the next window begins."
        )
    else:
        sentence = (
            f"The {what} allows {limit:,} at once, and {used:,} are running. It continues "
            f"when one of them ends; it checks again at {at(run.due_at)}."
        )
    return Reason(
        "waiting_for_quota",
        f"{sentence} {RAISE}; no attempt is used.",
        since=since,
        until=run.due_at,
        details=dict(facts),
    )


def described_hold(facts: Any) -> str:
    """Describe the quota of a hold in a few words: what it limits and for whom."""
    whose = "this workspace's" if facts.get("of") == "workspace" else "the starting user's"
    target = str(facts.get("target") or "")
    if facts.get("resource") == "tokens":
        return f"quota on tokens of {target or 'all models'} ({whose})"
    return f"quota on steps of {target} ({whose})"
