"""The last committed result: docs/benchmarks/last.json."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.benchmarks.programs import PROJECT

LAST = PROJECT / "docs" / "benchmarks" / "last.json"
LIBRARIES = ("celery", "kombu", "Django", "psycopg", "redis", "pydantic")


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved run: its machine, its date, its commit, and every figure."""

    machine: dict[str, Any]
    date: str
    commit: str
    versions: dict[str, str]
    scale: float
    figures: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)  # selected, and not measured


def machine() -> dict[str, Any]:
    """Return facts about the measured code, the machine, and its load before the run."""
    cpu = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if "model name" in line),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gib": round(memory),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }


def this_run(
    facts: dict[str, Any],
    scale: float,
    figures: Mapping[str, float],
    postgres: str,
    missing: Sequence[str] = (),
) -> Saved:
    """Return the result that would be saved."""
    versions = {name: version(name) for name in LIBRARIES} | {"PostgreSQL": postgres}
    date = datetime.now(UTC).date().isoformat()
    rounded = {name: float(f"{value:.4g}") for name, value in figures.items()}
    return Saved(facts, date, _commit(), versions, scale, rounded, list(missing))


def load(path: Path = LAST) -> Saved | None:
    """Return the last result; None if none was saved."""
    if not path.exists():
        return None
    return Saved(**json.loads(path.read_text()))


def save(run: Saved, path: Path = LAST) -> None:
    """Save this run as the last result.

    Figures of workloads that this run left out stay, because they are still the latest.
    """
    before = load(path)
    figures = (before.figures if before else {}) | run.figures
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(asdict(run) | {"figures": figures}, indent=2) + "\n")


def _commit() -> str:
    done = subprocess.run(
        ("git", "describe", "--always", "--dirty"),
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip()


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
