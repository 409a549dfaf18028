"""What is to go: the terms as they are set, or an age that a person says, and within what scope."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Q

from dlq.retention import conf
from dlq.retention.terms import DAY, ENDINGS, RetentionScope, Term, terms_of
from executions.models import Workflow, Workspace


@dataclass(frozen=True, slots=True)
class Wanted:
    """`older_than`, in days, comes in place of all terms; `now` is the database's time."""

    now: datetime
    terms: tuple[Term, ...]
    scope: RetentionScope = field(default_factory=RetentionScope)
    older_than: float | None = None

    def before(self, days: float) -> datetime | None:
        """What is older goes; None where it is kept for ever. `days` are those of the settings."""
        days = days if self.older_than is None else self.older_than
        return self.now - days * DAY if days > 0 else None


def as_set(now: datetime, scope: RetentionScope | None = None) -> Wanted:
    """What the settings say."""
    terms = (*terms_of(conf.keep_days()), *_others(conf.overrides()))
    return Wanted(now, terms, scope or RetentionScope())


def older_than(days: float, now: datetime, scope: RetentionScope | None = None) -> Wanted:
    """What is older than so many days, whatever the settings say."""
    return Wanted(
        now, tuple(terms_of(dict.fromkeys(ENDINGS, days))), scope or RetentionScope(), days
    )


def _others(overrides: Mapping[str, Mapping[str, float]]) -> Iterator[Term]:
    # Of tiers first: a workspace's own word comes later, and the last one holds.
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
    # Archived ones of the name too: what they ran is of the same kind.
    flows = Workflow.objects.filter(Q(workspace=workspace), slug=slug).values_list("pk", flat=True)
    made = [term for pk in flows for term in terms_of(days, workflow_id=pk)]
    if not made:
        raise _unknown(place, f"workspace {space!r} has no workflow {slug!r}")
    return made


def _unknown(place: str, why: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"VALKYR_KEEP_OVERRIDES names {place!r}, and {why}. Until then nothing is deleted."
    )
