"""Quotas: what one may say, each resource with the limits that can be kept."""

from typing import Any

from executions.public.definitions import DefinitionProblem, catalog
from valkyr_plugins.limits.models import Quota
from valkyr_plugins.limits.setting import LimitExists, LimitKind, LimitRefused
from valkyr_plugins.limits.states import Resource

LIMITS = ("max_concurrent", "max_per_hour", "max_per_day")
MAX_TARGET = 100


class QuotaExists(LimitExists):
    """There is a quota for that already; change it instead."""

    code = "quota_exists"


class QuotaRefused(LimitRefused):
    """The quota would not do what it says."""

    code = "quota_refused"


def check(quota: Quota) -> None:
    """Raise QuotaRefused for a quota that limits nothing, or what cannot be limited so."""
    problems = [*_resource(quota), *_limits(quota)]
    if problems:
        raise QuotaRefused(" ".join(problem.message for problem in problems), problems)


def described(quota: Quota) -> str:
    """What it limits, in a sentence."""
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
        return [] if good else [_target("unknown", "The model's name has at most 100 letters.")]
    if quota.resource != Resource.EXECUTIONS:
        known = ", ".join(Resource.values)
        message = f"{quota.resource!r} is none of: {known}."
        return [DefinitionProblem("resource", "unknown", message)]
    if quota.target:
        return [_target("not_wanted", "A quota on executions counts them all; give no target.")]
    return []


def _module(name: str) -> list[DefinitionProblem]:
    spec = catalog().get(name)
    if not name:
        return [_target("required", "Name the module type whose steps are limited.")]
    if spec is None:
        return [_target("unknown", f"There is no module type {name[:MAX_TARGET]!r}.")]
    if spec.inline:
        why = "runs in memory together with other steps, and is not held back"
    elif spec.container:
        why = "runs no step of its own; limit the types in its body"
    elif name == "remote.step":
        why = "is done by remote runners, which take as many as they ask for; start fewer of them"
    else:
        return []
    return [_target("cannot_be_limited", f"The module type {name!r} {why}.")]


def _limits(quota: Quota) -> list[DefinitionProblem]:
    if quota.max_concurrent is not None and quota.resource == Resource.EXECUTIONS:
        message = "How many executions run at once is a matter of the workspace's tier."
        return [DefinitionProblem("maxConcurrent", "not_wanted", message)]
    if quota.max_concurrent is not None and quota.resource == Resource.TOKENS:
        message = "Tokens are counted after a step spent them; give maxPerHour, maxPerDay or both."
        return [DefinitionProblem("maxConcurrent", "not_wanted", message)]
    if all(getattr(quota, name) is None for name in LIMITS):
        message = "A quota limits something: give maxPerHour, maxPerDay or both."
        if quota.resource == Resource.MODULE:
            message = "A quota limits something: give maxConcurrent, maxPerHour or maxPerDay."
        return [DefinitionProblem("maxPerHour", "no_limit", message)]
    return []


def _target(code: str, message: str) -> DefinitionProblem:
    return DefinitionProblem("target", code, message)


class QuotaKind(LimitKind[Quota]):
    """Quotas, each on one resource and target."""

    model = Quota
    noun = "quota"
    changeable = LIMITS
    refused = QuotaRefused
    exists = QuotaExists
    members_only = "Only a member can have a quota."

    def check(self, limit: Quota) -> None:
        """Raise QuotaRefused for a quota that limits nothing, or what cannot be limited so."""
        check(limit)

    def facts(self, limit: Quota) -> dict[str, Any]:
        """Whom it limits in what, and how much."""
        return {name: getattr(limit, name) for name in ("user_id", "resource", "target", *LIMITS)}

    def already(self, limit: Quota, whose: str) -> str:
        """The sentence about an equal quota."""
        on = described(limit)
        return f"There is a quota for {whose} already, on {on}. Change that one."


QUOTAS = QuotaKind()
