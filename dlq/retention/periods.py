"""Retention periods, from the settings or from an age that a user gives."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Q

from dlq.retention.terms import DAY, ENDINGS, RetentionScope, Term, terms_of
from executions.configuration import settings as valkyr_settings
from executions.models import Workflow, Workspace

# Retention periods from the settings, in days; 0 keeps rows forever.


EXAMPLE = '{"default/order-import": {"succeeded": 7}, "finance": {"failed": 0}, "tier:free": {}}'


def keep_days() -> dict[str, float]:
    """Return, for each kind of end, how many days executions and their rows are kept."""
    chosen = valkyr_settings()
    return {
        "succeeded": chosen.keep_succeeded_days,
        "failed": chosen.keep_failed_days,
        "cancelled": chosen.keep_cancelled_days,
    }


def log_days() -> float:
    """Return how many days step logs are kept after the end of their execution.

    With 0, logs are kept as long as the execution.
    """
    return valkyr_settings().keep_logs_days


def test_days() -> float:
    """Return for how many days after its creation a test version is kept, with its executions."""
    return valkyr_settings().test_version_hours / 24


def tick_days() -> float:
    """Return how many days ticks without an execution are kept."""
    return valkyr_settings().keep_ticks_days


def credential_use_days() -> float:
    """Return how many days records of credential use are kept."""
    return valkyr_settings().keep_credential_uses_days


def overrides() -> dict[str, dict[str, float]]:
    """Return the exceptions to the retention periods, in days.

    The keys are `workspace`, `workspace/workflow`, or `tier:name`. Raises ImproperlyConfigured if
    the setting has an invalid format.
    """
    found = valkyr_settings().keep_overrides
    if not found:
        return {}
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError as error:
            raise _wrong(f"it is not valid JSON ({error})") from None
    if not isinstance(found, Mapping):
        raise _wrong(f"it is {str(found)[:60]}")
    return {str(place): _checked(str(place), days) for place, days in found.items()}


def _checked(place: str, days: Any) -> dict[str, float]:
    if not isinstance(days, Mapping) or not set(days) <= set(ENDINGS):
        raise _wrong(f"the value for {place!r} is {days!r}")
    for ending, number in days.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            raise _wrong(f"for {place!r} {ending} is {number!r}")
    return {str(ending): float(number) for ending, number in days.items()}


def _wrong(what: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"VALKYR_KEEP_OVERRIDES: {what}; expected JSON such as {EXAMPLE}, with days (0: forever) "
        f"for any of {', '.join(ENDINGS)}."
    )


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """The retention periods at the database's time `now`; `older_than` (days) replaces them all."""

    now: datetime
    terms: tuple[Term, ...]
    scope: RetentionScope = field(default_factory=RetentionScope)
    older_than: float | None = None

    def before(self, days: float) -> datetime | None:
        """Return the time before which rows are deleted; None keeps all rows.

        `days` is the period from the settings.
        """
        days = days if self.older_than is None else self.older_than
        return self.now - days * DAY if days > 0 else None


def as_set(now: datetime, scope: RetentionScope | None = None) -> RetentionPeriods:
    """Return the periods in the settings. Raises ImproperlyConfigured for invalid settings."""
    terms = (*terms_of(keep_days()), *_others(overrides()))
    return RetentionPeriods(now, terms, scope or RetentionScope())


def older_than(days: float, now: datetime, scope: RetentionScope | None = None) -> RetentionPeriods:
    """Return the periods that delete everything older than `days`, regardless of the settings."""
    return RetentionPeriods(
        now, tuple(terms_of(dict.fromkeys(ENDINGS, days))), scope or RetentionScope(), days
    )


def _others(overrides: Mapping[str, Mapping[str, float]]) -> Iterator[Term]:
    # Tiers come first, because the last term applies, and a workspace's own term takes precedence.
    held: dict[tuple[object, object, str], Term] = {}
    for place in sorted(overrides, key=lambda place: not place.startswith("tier:")):
        for term in _terms(place, overrides[place]):
            held[term.workspace_id, term.workflow_id, term.state] = term
    yield from held.values()


def _terms(place: str, days: Mapping[str, float]) -> list[Term]:
    kind, _, tier = place.partition("tier:")
    if tier and not kind:
        spaces = Workspace.objects.filter(tier__name=tier).values_list("pk", flat=True)
        return [term for pk in spaces for term in terms_of(days, workspace_id=pk)]
    space, _, slug = place.partition("/")
    workspace = Workspace.objects.filter(slug=space).first()
    if workspace is None:
        raise _unknown(place, f"there is no workspace {space!r}")
    if not slug:
        return terms_of(days, workspace_id=workspace.pk)
    # This includes archived workflows with the same slug, because their executions are of the same
    # kind.
    flows = Workflow.objects.filter(Q(workspace=workspace), slug=slug).values_list("pk", flat=True)
    made = [term for pk in flows for term in terms_of(days, workflow_id=pk)]
    if not made:
        raise _unknown(place, f"workspace {space!r} has no workflow {slug!r}")
    return made


def _unknown(place: str, why: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"VALKYR_KEEP_OVERRIDES names {place!r}, but {why}. Nothing is deleted until you "
        "correct it."
    )
