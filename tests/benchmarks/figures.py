"""Every figure of a run under one flat name, such as `W1e.cpu_ms.database`.

Targets, comparisons, the saved result and the page's tables all read these figures.
"""

from collections.abc import Mapping
from statistics import mean, median
from typing import Any

from tests.benchmarks.dispatch_time import Latencies
from tests.benchmarks.idle import Idle
from tests.benchmarks.in_flight import InFlight
from tests.benchmarks.memory import Growth
from tests.benchmarks.quantiles import Quantiles
from tests.benchmarks.sides import Repetition
from tests.benchmarks.tenths import spread
from tests.benchmarks.throughput import Outcome
from tests.benchmarks.triggering import Triggering

Figures = dict[str, float]


def of_throughput(outcomes: list[Outcome]) -> Figures:
    """Return rates, ratios, and CPU milliseconds per step by process."""
    found: Figures = {}
    for outcome in outcomes:
        name = outcome.workload.name
        found |= _of_side(name, outcome.engine)
        if outcome.celery:
            found |= _of_side(f"{name}.celery", outcome.celery)
            found[f"{name}.ratio"] = outcome.ratio
            found[f"{name}.cpu_ratio"] = median(
                [
                    theirs.cpu_ms / ours.cpu_ms
                    for ours, theirs in zip(outcome.engine, outcome.celery, strict=True)
                ]
            )
    return found


def _of_side(name: str, made: list[Repetition]) -> Figures:
    return {
        f"{name}.rate": median([one.rate for one in made]),
        f"{name}.cpu_ms": median([one.cpu_ms for one in made]),
        f"{name}.cpu_ms.engine": median([one.engine_ms for one in made]),
        f"{name}.cpu_ms.database": median([one.database_ms for one in made]),
        f"{name}.cpu_ms.broker": median([one.broker_ms for one in made]),
    }


def of_latencies(found: Latencies | None) -> Figures:
    """Return the figures of W3, in milliseconds."""
    if found is None:
        return {}
    parts = {
        "answered": found.answered,
        "first_line": found.first_line,
        "recorded": found.recorded,
        "lease": found.lease,
        "dispatch": found.dispatch,
        "celery": found.plain,
    }
    return {
        key: value
        for name, part in parts.items()
        if part is not None
        for key, value in _quantiles(f"W3.{name}", part).items()
    }


def of_calls(found: InFlight | None) -> Figures:
    """Return the figures of W4."""
    if found is None:
        return {}
    figures = _of_side("W4", [found.engine.repetition]) | {"W4.peak": float(found.engine.peak)}
    if found.celery is not None:
        figures |= _of_side("W4.celery", [found.celery.repetition])
        figures["W4.celery.peak"] = float(found.celery.peak)
    return figures


def of_triggers(found: Triggering | None) -> Figures:
    """Return the figures of W5."""
    if found is None:
        return {}
    return {
        "W5.rate": found.single,
        "W5.bare": found.bare,
        "W5.ratio": found.ratio,
        "W5.batch": found.batch,
        **_quantiles("W5.at_half", found.at_half),
    }


def of_backlog(found: Mapping[str, Any] | None) -> Figures:
    """Return the figures of a processed backlog."""
    if found is None:
        return {}
    figures = {
        "backlog.rate": mean(found["rates"]),
        "backlog.spread": spread(found["rates"]),
        "backlog.growing.spread": spread(found["growing"]),
        "backlog.cpu_ms": mean(found["cpu_ms"]),
        "backlog.cpu_spread": spread(found["cpu_ms"]),
        "backlog.tick": max(found["ticks"].values(), default=0.0),
        "backlog.doubled": float(found["doubled"]),
    }
    for key in ("rates", "cpu_ms", "growing"):
        figures |= {f"backlog.{key}.{n}": value for n, value in enumerate(found[key], start=1)}
    return figures


def of_crowd(found: Mapping[str, Any] | None) -> Figures:
    """Return the figures of ten thousand concurrent executions."""
    if found is None:
        return {}
    start, end = found["memory"]
    figures = {
        "crowd.alive": float(found["alive"]),
        "crowd.pending": float(found["pending"]),
        "crowd.rate": found["rate"],
        "crowd.runner_share": found["runner_share"],
        "crowd.stack_share": found["stack_share"],
        "crowd.memory": end,
        "crowd.memory_growth": end / start - 1,
        "crowd.tick": max(found["ticks"].values(), default=0.0),
    }
    for name, row in found["answers"].items():
        figures |= {f"crowd.{name}.{rank}": value for rank, value in row.items()}
    return figures | {f"crowd.tick.{name}": took for name, took in found["ticks"].items()}


def of_full(found: Mapping[str, Any] | None) -> Figures:
    """Return the figures of a run over full tables."""
    if found is None:
        return {}
    figures = {"full.executions": float(found["executions"])}
    for name, row in found["workloads"].items():
        parts = ("empty", "full", "change", "engine", "database")
        figures |= {f"full.{name}.{part}": row[part] for part in parts}
    return figures


def of_memory(found: Growth | None) -> Figures:
    """Return the figures of the memory of a worker's child."""
    if found is None:
        return {}
    first, last = min(found.pss), max(found.pss)
    return {
        "memory.first": found.pss[first],
        "memory.last": found.pss[last],
        "memory.growth": found.share,
        "memory.maps": found.maps[-1],
    }


def of_idle(found: Idle | None) -> Figures:
    """Return the figures of an idle stack: MiB and per cent of a core."""
    if found is None:
        return {}
    return (
        {"idle.memory": found.total, "idle.cpu": found.burnt}
        | {f"idle.memory.{name}": value for name, value in found.memory.items()}
        | {f"idle.cpu.{name}": value for name, value in found.cpu.items()}
    )


def _quantiles(name: str, found: Quantiles) -> Figures:
    return {f"{name}.p50": found.p50, f"{name}.p95": found.p95, f"{name}.p99": found.p99}
