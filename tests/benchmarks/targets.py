"""The targets of the figures, and how far each was met or missed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A bound of one figure; `least` says whether it is a lower bound."""

    figure: str
    title: str
    bound: float
    least: bool = False
    unit: str = ""

    def verdict(self, value: float) -> str:
        """Return `met`, or how far the value misses the bound."""
        if value >= self.bound if self.least else value <= self.bound:
            return "met"
        return f"MISSED by {abs(value / self.bound - 1):.0%}"

    @property
    def wanted(self) -> str:
        """Return the bound as readers expect it."""
        return f"{'>=' if self.least else '<='} {shown(self.bound, self.unit)}"


@dataclass(frozen=True, slots=True)
class Row:
    """A target and the measured value."""

    title: str
    measured: str
    wanted: str
    verdict: str


TARGETS = (
    Target(
        "W1e.ratio",
        "W1e: chain with effects, compared with plain Celery",
        3.0,
        least=True,
        unit="x",
    ),
    Target("W1e.cpu_ms", "W1e: CPU a step", 0.6, unit="ms"),
    Target("W1p.ratio", "W1p: pure chain, compared with plain Celery", 8.0, least=True, unit="x"),
    Target("W1p.cpu_ms", "W1p: CPU a step", 0.15, unit="ms"),
    Target(
        "W2e.ratio", "W2e: fan with effects, compared with plain Celery", 1.0, least=True, unit="x"
    ),
    Target(
        "W2c.ratio",
        "W2c: fan of a new workflow, with effects, compared with plain Celery",
        1.5,
        least=True,
        unit="x",
    ),
    Target("W2p.ratio", "W2p: pure fan, compared with plain Celery", 5.0, least=True, unit="x"),
    Target(
        "W3.answered.p95",
        "W3: from the trigger to the 202 (after the commit), idle, p95",
        10,
        unit="ms",
    ),
    Target(
        "W3.first_line.p95", "W3: from the trigger over HTTP to the first line, p95", 15, unit="ms"
    ),
    Target("W3.lease.p95", "W3: lease acquisition, p95", 10, unit="ms"),
    Target("W3.dispatch.p95", "W3: dispatch (published to claimed), p95", 75, unit="ms"),
    Target("W4.peak", "W4: calls in flight from one io worker", 200, least=True),
    Target("W5.ratio", "W5: one per request, compared with a bare view", 0.6, least=True, unit="x"),
    Target("W5.batch", "W5: executions accepted per second, in batches", 2_000, least=True),
    Target(
        "W6.ratio", "W6: map of 10,000 items, compared with plain Celery", 5.0, least=True, unit="x"
    ),
    Target("W6.rate", "W6: items a second", 5_000, least=True),
    Target("crowd.alive", "executions alive at once", 10_000, least=True),
    Target("crowd.pending", "steps pending at once", 250_000, least=True),
    Target("crowd.tick", "crowd: longest time that a duty took", 1_000, unit="ms"),
    Target(
        "crowd.runner_share", "crowd: CPU of the step worker, share of its cores", 0.70, unit="%"
    ),
    Target(
        "crowd.memory_growth",
        "crowd: memory growth of the worker's child processes within one minute",
        0.20,
        unit="%",
    ),
    Target(
        "backlog.spread", "backlog: largest deviation of a tenth from the mean rate", 0.15, unit="%"
    ),
    Target("backlog.cpu_spread", "backlog: the same deviation of the CPU per step", 0.15, unit="%"),
    Target("backlog.tick", "backlog: longest time that a duty took", 1_000, unit="ms"),
    Target("full.W1e.change", "full tables: W1e, additional CPU per step", 0.10, unit="%"),
    Target("full.W1p.change", "full tables: W1p, additional CPU per step", 0.10, unit="%"),
    Target("memory.growth", "memory growth of a child from 1,000 steps to 10,000", 0.20, unit="%"),
)


def judged(figures: Mapping[str, float], targets: Sequence[Target] = TARGETS) -> list[Row]:
    """Return the targets whose figures were measured."""
    return [
        Row(
            target.title,
            shown(figures[target.figure], target.unit),
            target.wanted,
            target.verdict(figures[target.figure]),
        )
        for target in targets
        if target.figure in figures
    ]


def shown(value: float, unit: str) -> str:
    """Return a figure as readers expect it; shares are percentages."""
    if unit == "%":
        return f"{value:.1%}".replace(".0%", "%")
    size = abs(value)
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 1 else 3
    text = f"{value:,.{digits}f}"
    return f"{text} {unit}" if unit else text
