"""A run's figures as text: at the end of a run, and as rows of the page's tables."""

from collections.abc import Mapping

from tests.benchmarks.shipped.goals import GOALS
from tests.benchmarks.shipped.loads import EVERY
from tests.benchmarks.shipped.stack import largest_first
from tests.benchmarks.targets import judged, shown

Figures = Mapping[str, float]
HEADS = (
    "", "as shipped", "bare worker", "plain Celery", "shipped ÷ plain", "bare ÷ plain",
    "CPU ms: shipped", "bare", "plain",
)  # fmt: skip
KEYS = (
    "rate",
    "bare.rate",
    "plain.rate",
    "ratio",
    "bare.ratio",
    "cpu_ms",
    "bare.cpu_ms",
    "plain.cpu_ms",
)


def rates(figures: Figures) -> list[tuple[str, ...]]:
    """Return one row per load: steps per second of each side, ratios, CPU milliseconds per step."""
    return [
        (load.title, *(_cell(figures, f"shipped.{load.name}.{key}") for key in KEYS))
        for load in EVERY
        if f"shipped.{load.name}.rate" in figures
    ]


def goals(figures: Figures) -> list[tuple[str, ...]]:
    """Return one row per target: the target, the measured value, and the difference."""
    return [(row.title, row.measured, row.wanted, row.verdict) for row in judged(figures, GOALS)]


def processes(figures: Figures) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and rows: CPU milliseconds per step by process, one column per load."""
    loads = {load.name: load.title for load in EVERY} | {"http": "16 clients, single starts"}
    loads = {name: title for name, title in loads.items() if f"shipped.{name}.cpu_ms" in figures}
    used: dict[str, float] = {}
    for name in loads:
        prefix = f"shipped.{name}.cpu_ms."
        for key, value in figures.items():
            if key.startswith(prefix):
                process = key.removeprefix(prefix)
                used[process] = max(value, used.get(process, 0.0))
    rows = [
        (process, *(_cell(figures, f"shipped.{name}.cpu_ms.{process}") for name in loads))
        for process in largest_first(used)
    ]
    if rows:
        rows.append(("**all**", *(_cell(figures, f"shipped.{name}.cpu_ms") for name in loads)))
    return ("CPU ms a step", *loads.values()), rows


def say_all(figures: Figures) -> None:
    """Print the three tables of the measured figures."""
    _print("as shipped, steps/s and CPU milliseconds a step", HEADS, rates(figures))
    _print("as shipped: where the CPU goes", *processes(figures))
    _print("as shipped: goals", ("goal", "measured", "wanted", ""), goals(figures))


def _print(title: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    if not rows:
        return
    table = [heads, *rows]
    widths = [max(len(row[place]) for row in table) for place in range(len(heads))]
    print(f"\n{title}")
    for row in table:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        print("  ".join((row[0].ljust(widths[0]), *cells)).rstrip())


def _cell(figures: Figures, name: str) -> str:
    return shown(figures[name], "") if name in figures else ""
