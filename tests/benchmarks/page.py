"""The tables of docs/explanation/performance.md, written between its markers from a run's figures.

A table is between `<!-- bench: NAME -->` and `<!-- /bench -->`. The rest of the page, and tables
that the run did not measure, stay unchanged.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.benchmarks.saved import Saved
from tests.benchmarks.shipped import told as shipped
from tests.benchmarks.targets import judged, shown

MARKED = re.compile(r"(<!-- bench: (\w+) -->\n).*?(<!-- /bench -->)", re.DOTALL)
Figures = Mapping[str, float]


def write(path: Path, run: Saved) -> None:
    """Replace the text between the markers. Raise ValueError for an unknown name."""
    path.write_text(rewritten(path.read_text(), run))


def rewritten(text: str, run: Saved) -> str:
    """Return the page with this run's tables."""

    def table(found: re.Match[str]) -> str:
        begin, name, end = found.groups()
        if name not in TABLES:
            raise ValueError(f"the page's marker {name!r} is none of {', '.join(TABLES)}")
        made = TABLES[name](run)
        return f"{begin}{made}\n{end}" if made else found.group()

    return MARKED.sub(table, text)


def _machine(run: Saved) -> str:
    return _where(run) if _has_workloads(run) else ""


def _has_workloads(run: Saved) -> bool:
    """Return whether figures exist in addition to those of the shipped and the idle stack."""
    return any(name.partition(".")[0] not in {"shipped", "idle", "seconds"} for name in run.figures)


def _where(run: Saved) -> str:
    facts, versions = run.machine, ", ".join(f"{k} {v}" for k, v in run.versions.items())
    scale = "" if run.scale == 1 else f" **Sizes at {run.scale:g} of the full ones.**"
    missing = f" **Not measured in this run**: {', '.join(run.missing)}." if run.missing else ""
    return (
        f"{run.date}, commit {run.commit}: {facts['cores']} cores ({facts['cpu']}), "
        f"{facts['memory_gib']} GiB, load {facts['load']} before the start; Python "
        f"{facts['python']}, {versions}.{scale}{missing}"
    )


def _targets(run: Saved) -> str:
    rows = [(row.title, row.measured, row.wanted, row.verdict) for row in judged(run.figures)]
    return _table(("target", "measured", "wanted", ""), rows)


LATENCIES = {
    "W3.answered": "request sent → 202, durable",
    "W3.first_line": "request sent → first line of the step",
    "W3.recorded": "request sent → recorded as finished",
    "W3.dispatch": "message published → run claimed",
    "W3.lease": "message in the child's hands → first line",
    "W3.celery": "plain Celery, without HTTP: published → first line",
    "W5.at_half": "W5: a request at half the highest rate",
    "crowd.list executions": "crowd: list of executions",
    "crowd.list pending runs": "crowd: list of pending runs",
    "crowd.start one": "crowd: start one",
}


def _latencies(run: Saved) -> str:
    rows = [
        (title, *(_cell(run.figures, f"{name}.{rank}") for rank in ("p50", "p95", "p99")))
        for name, title in LATENCIES.items()
        if f"{name}.p50" in run.figures
    ]
    return _table(("milliseconds", "p50", "p95", "p99"), rows)


def _idle(run: Saved) -> str:
    prefix = "idle.memory."
    names = [name.removeprefix(prefix) for name in run.figures if name.startswith(prefix)]
    rows = [
        (
            name,
            _cell(run.figures, f"idle.memory.{name}"),
            _cell(run.figures, f"idle.cpu.{name}"),
        )
        for name in names
    ]
    if rows:
        whole = (_cell(run.figures, "idle.memory"), _cell(run.figures, "idle.cpu"))
        rows.append(("**all**", *whole))
    return _table(("process", "MiB (PSS)", "% of a core"), rows)


def _shipped_machine(run: Saved) -> str:
    return _where(run) if any(name.startswith("shipped.") for name in run.figures) else ""


def _shipped(run: Saved) -> str:
    return _table(shipped.HEADS, shipped.rates(run.figures))


def _shipped_goals(run: Saved) -> str:
    return _table(("as shipped", "measured", "wanted", ""), shipped.goals(run.figures))


def _shipped_cpu(run: Saved) -> str:
    return _table(*shipped.processes(run.figures))


TABLES: dict[str, Callable[[Saved], str]] = {
    "machine": _machine,
    "shipped_machine": _shipped_machine,
    "shipped": _shipped,
    "shipped_goals": _shipped_goals,
    "shipped_cpu": _shipped_cpu,
    "targets": _targets,
    "latencies": _latencies,
    "idle": _idle,
}


def _cell(figures: Figures, name: str) -> str:
    return shown(figures[name], "") if name in figures else ""


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
