"""The report: on the terminal, as JSON, and between two markers of a Markdown file."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.chaos.options import Options, usual_crowd, usual_kills
from tests.chaos.outcome import Outcome
from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.folders import postgres_bin

BEGIN = (
    '<!-- chaos: begin; written by `make chaos ARGS="--report docs/explanation/reliability.md"` -->'
)
END = "<!-- chaos: end -->"
HEADS = (
    "fault", "injected", "accepted", "ended", "effects", "repeated", "fenced",
    "recovery p50 / p95 / p99 / worst", "bound", "unattended", "verdict", "took",
)  # fmt: skip
# The page leaves out what only a person who repeats the run needs.
SHOWN = ("fault", "injected", "ended", "repeated", "recovery p95 / worst", "bound", "verdict")
HIDDEN = ("chains", "connections", "lookups", "lost", "packets")  # beginnings of figures' names


def facts(options: Options) -> dict[str, str]:
    """Return the place, the time, the versions, and the command that repeats the run."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{os.cpu_count()} cores ({_processor()}), {_memory():.0f} GB, "
        f"{platform.system()} {platform.release()}",
        "versions": f"Python {platform.python_version()}, {_postgres()}, broker {options.broker}",
        "commit": _said("git", "rev-parse", "--short", "HEAD"),
        "leases": "short (--quick)" if options.quick else "as in production: 20 s",
        "seed": str(options.seed),
        "command": command(options, ",".join(options.only)),
    }


def command(options: Options, only: str) -> str:
    """Return the command that repeats a run, or one fault of it."""
    words = [f"--only {only}"] if only else []
    words.append(f"--seed {options.seed}")
    if options.broker != "redis":
        words.append(f"--broker {options.broker}")
    if options.kills != usual_kills(quick=options.quick):
        words.append(f"--kills {options.kills}")
    if options.crowd != usual_crowd(quick=options.quick):
        words.append(f"--crowd {options.crowd:g}")
    if options.partitions:
        words.append("--partitions")
    if options.quick:
        words.append("--quick")
    elif options.minutes != 3.0:
        words.append(f"--minutes {options.minutes:g}")
    return f'make chaos ARGS="{" ".join(words)}"'


def line(outcome: Outcome) -> str:
    """Return the result of one fault in a line of progress."""
    if outcome.verdict == "not run":
        return f"      not run: {outcome.reason}"
    found = outcome.recovery
    recovery = f", recovery p95 {found.p95:.1f} s" if found else ""
    first = "".join(f"\n      ! {problem}" for problem in outcome.problems[:3])
    return (
        f"      {outcome.verdict} in {outcome.seconds:.0f} s: {_counted(outcome.injected)}; "
        f"{outcome.accepted} accepted, ended {_counted(outcome.ended)}; {outcome.effects} effects, "
        f"repeated {_counted(outcome.repeats)}, {outcome.fenced} fenced{recovery}{first}"
    )


def as_text(outcomes: Sequence[Outcome], told: Mapping[str, str], options: Options) -> str:
    """Return the whole report, for the terminal."""
    lines = ["", *(f"{name:9} {value}" for name, value in told.items()), ""]
    rows = [cells(outcome) for outcome in outcomes]
    for outcome, row in zip(outcomes, rows, strict=True):
        lines.append(f"{outcome.verdict.upper():8} {outcome.slug}: {outcome.promise}")
        shown = zip(HEADS[1:], row[1:], strict=True)
        lines += [f"           {head}: {cell}" for head, cell in shown if cell]
        lines += [f"           {name}: {worded(value)}" for name, value in outcome.figures.items()]
        lines += [f"           {note}" for note in outcome.notes]
        if outcome.verdict == "broken":
            lines += [f"         ! {problem}" for problem in outcome.problems[:12]]
            lines += [f"         ! and {len(outcome.problems) - 12} more"] * (
                len(outcome.problems) > 12
            )
            lines.append(f"         logs: {outcome.logs}")
            lines.append(f"         again: {command(options, outcome.slug)}")
    return "\n".join(lines)


def as_json(outcomes: Sequence[Outcome], told: Mapping[str, str]) -> str:
    """Return the whole report as JSON, for programs."""
    found = {"facts": told, "faults": [outcome.as_json() for outcome in outcomes]}
    return json.dumps(found, indent=2, default=str)


def as_markdown(outcomes: Sequence[Outcome], told: Mapping[str, str]) -> str:
    """Return the part between the markers, as Markdown."""
    lines = [*(f"- {name}: `{value}`" for name, value in told.items()), ""]
    lines.append(f"| {' | '.join(SHOWN)} |")
    lines.append(f"|{'---|' * len(SHOWN)}")
    lines += [f"| {' | '.join(shown_cells(outcome))} |" for outcome in outcomes]
    lines.append("")
    for outcome in outcomes:
        figures = [
            f"{name}: {worded(value)}"
            for name, value in outcome.figures.items()
            if not name.startswith(HIDDEN)
        ]
        if found := [*figures, *outcome.notes, *outcome.problems]:
            lines.append(f"- `{outcome.slug}`: {'; '.join(found)}")
    return "\n".join(lines).rstrip("\n")


def write(file: Path, outcomes: Sequence[Outcome], told: Mapping[str, str]) -> None:
    """Write the report between the file's markers. Raise ValueError if it has none."""
    text = file.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{file} lacks the lines {BEGIN!r} and {END!r}")
    file.write_text(f"{before}{begin}\n{as_markdown(outcomes, told)}\n{end}{after}")


def cells(outcome: Outcome) -> list[str]:
    """Return one row of the table, in the order of HEADS."""
    if outcome.verdict == "not run":
        return [outcome.title, *[""] * 9, f"not run: {outcome.reason}", ""]
    found = outcome.recovery
    times = "" if found is None else (
        f"{found.p50:.1f} / {found.p95:.1f} / {found.p99:.1f} / {outcome.worst:.1f} s"
    )  # fmt: skip
    return [
        outcome.title,
        _counted(outcome.injected),
        str(outcome.accepted),
        _counted(outcome.ended),
        str(outcome.effects),
        _counted(outcome.repeats),
        str(outcome.fenced),
        times,
        "" if outcome.bound is None else f"{outcome.bound:g} s",
        f"{outcome.unattended:.0f} s",
        outcome.verdict,
        f"{outcome.seconds:.0f} s",
    ]


def shown_cells(outcome: Outcome) -> list[str]:
    """Return one row of the page's table, in the order of SHOWN."""
    if outcome.verdict == "not run":
        return [outcome.title, *[""] * (len(SHOWN) - 2), f"not run: {outcome.reason}"]
    found = outcome.recovery
    return [
        outcome.title,
        str(sum(outcome.injected.values())),
        _counted(outcome.ended),
        str(sum(outcome.repeats.values())),
        f"{found.p95:.1f} / {outcome.worst:.1f} s" if found else "",
        "" if outcome.bound is None else f"{outcome.bound:g} s",
        outcome.verdict,
    ]


def worded(value: Any) -> str:
    """Return a figure as text: `2,393`, or `25 × 503, 3 × 429` for counts by name."""
    if isinstance(value, Mapping):
        return ", ".join(f"{worded(count)} × {name}" for name, count in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(found.items())) or "0"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def _postgres() -> str:
    return _said(str(postgres_bin(server_account()) / "postgres"), "--version")


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
