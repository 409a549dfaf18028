"""The result of a fault: the figures of the report, in plain values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from tests.benchmarks.quantiles import Quantiles, quantiles

COUNTERS = ("injected", "refused", "ended", "repeats")
Verdict = Literal["kept", "broken", "not run"]


@dataclass
class Outcome:
    """One row of the report."""

    slug: str
    title: str
    promise: str
    bound: float | None
    verdict: Verdict = "kept"
    reason: str = ""  # why it was not run
    problems: list[str] = field(default_factory=list)
    injected: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)  # by state, children included
    effects: int = 0
    repeats: Counter[str] = field(default_factory=Counter)  # by what explains them
    fenced: int = 0
    recoveries: list[float] = field(default_factory=list)
    unattended: float = 0.0  # seconds, the worst
    figures: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    logs: str = ""

    def broken(self, problem: str) -> None:
        """Record that a promise was not kept."""
        self.verdict = "broken"
        self.problems.append(problem)

    @property
    def recovery(self) -> Quantiles | None:
        """Percentiles of the recoveries, if there are any."""
        return quantiles(self.recoveries) if self.recoveries else None

    @property
    def worst(self) -> float | None:
        """The longest recovery, in seconds."""
        return max(self.recoveries, default=None)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values, for a file."""
        # As plain mappings: asdict would make a Counter of a Counter's pairs.
        counters = {name: dict(getattr(self, name)) for name in COUNTERS}
        return asdict(replace(self, **counters))


def from_json(found: dict[str, Any]) -> Outcome:
    """Return the outcome that `as_json` wrote."""
    counters = {name: Counter(found[name]) for name in COUNTERS}
    return Outcome(**{**found, **counters})


def all_kept(outcomes: Sequence[Outcome]) -> bool:
    """Return whether no promise was broken; a fault that did not run breaks none."""
    return not any(outcome.verdict == "broken" for outcome in outcomes)
