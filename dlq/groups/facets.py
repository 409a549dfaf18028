"""The facets: the attributes by which the entries of a group are counted and split."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Func, TextField, Value
from django.db.models.expressions import Combinable, F
from django.db.models.functions import Cast, Coalesce

from dlq import statements
from dlq.groups.fingerprint import place_of
from dlq.models import DeadLetterEntry, Resolution
from executions.language import lazy
from executions.models import Workspace

# Columns of a dead letter, and their labels.
FACETS: Mapping[str, str] = {
    "version_number": lazy("version"),
    "worker": lazy("worker"),
    "http_status": lazy("HTTP status"),
    "target": lazy("target"),
    "exception": lazy("exception"),
    "step_path": lazy("step"),
}
LONGEST_LABEL = 400


def facets_of(entry: DeadLetterEntry) -> dict[str, str]:
    """Return an entry's facets as strings; a facet without a value is ""."""
    values = {name: getattr(entry, name) for name in FACETS}
    found = {name: "" if value is None else str(value) for name, value in values.items()}
    return found | {"step_path": place_of(entry.step_path)}


def facet(name: str) -> Combinable:
    """Return the facet as an SQL expression, without the iteration numbers in a step's path."""
    if name == "step_path":
        return Func(
            F(name), Value(r"\[\d+\]"), Value("[]"), Value("g"),
            function="regexp_replace", output_field=TextField(),
        )  # fmt: skip
    return Coalesce(Cast(F(name), TextField()), Value(""), output_field=TextField())


def label(name: str, value: str) -> str:
    """Return the label of one part of a group, such as `HTTP status 503` or `no target`."""
    text = f"{FACETS[name]} {value}" if value else f"no {FACETS[name]}"
    return text[:LONGEST_LABEL]


# The differences between a group's entries, as counts by facet over the newest entries.


LOOKED_AT = 10_000
MOST_SHOWN = 20  # values of one facet; `others` counts the rest
# The facets in the order of `facet_counts.sql`.
ORDER = ("version_number", "worker", "http_status", "target", "exception", "step_path", "workspace")
NAMES: Mapping[str, str] = {**FACETS, "workspace": "workspace"}


@dataclass(frozen=True, slots=True)
class Share:
    """The number of dead letters with one value; "" stands for those without a value."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Facet:
    """The most frequent values of one facet, and the number of dead letters with other values."""

    name: str
    label: str
    shares: tuple[Share, ...]
    others: int


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The counts of the newest `looked_at` entries; `more` is true if older entries may exist."""

    looked_at: int
    more: bool
    facets: tuple[Facet, ...]

    def facet(self, name: str) -> Facet:
        """Return the facet with this name. Raises KeyError for an unknown name."""
        return {facet.name: facet for facet in self.facets}[name]


def breakdown(group_id: UUID, most: int = LOOKED_AT) -> Breakdown:
    """Return the counts of a group's newest entries for each facet. Uses two queries."""
    params = {"group": group_id, "most": most, "resolutions": Resolution.values}
    counts: dict[int, list[Share]] = {}
    looked_at = 0
    for grouped, value, count in statements.fetch("facet_counts", params):
        if grouped == _mask(None):
            looked_at = count
        else:
            counts.setdefault(grouped, []).append(Share(value, count))
    facets = [_facet(name, counts.get(_mask(name), [])) for name in ORDER]
    return Breakdown(looked_at, looked_at >= most, tuple(facets))


def _mask(name: str | None) -> int:
    """Return SQL's `grouping(…)` of the counts by the column `name`, or of the total for None."""
    bits = (1 << len(ORDER)) - 1
    return bits if name is None else bits & ~(1 << (len(ORDER) - 1 - ORDER.index(name)))


def _facet(name: str, shares: list[Share]) -> Facet:
    shares = sorted(shares, key=lambda share: (-share.count, share.value))
    shown, rest = shares[:MOST_SHOWN], shares[MOST_SHOWN:]
    if name == "workspace":
        shown = [_named(share) for share in shown]
    return Facet(name, NAMES[name], tuple(shown), sum(share.count for share in rest))


def _named(share: Share) -> Share:
    """Return the share with the name of its workspace in place of the ID."""
    name = Workspace.objects.filter(pk=share.value).values_list("name", flat=True).first()
    return Share(name or share.value, share.count)
