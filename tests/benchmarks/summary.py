"""The end of a run: targets met and missed, and this run compared with the last committed one."""

from collections.abc import Mapping

from tests.benchmarks.comparison import differences
from tests.benchmarks.plan import PARTS
from tests.benchmarks.saved import Saved
from tests.benchmarks.targets import judged, shown

RECOVERY = (
    "recovery after kill -9, restarts and lost messages: `make chaos` "
    "(docs/explanation/reliability.md)"
)


def targets(figures: Mapping[str, float]) -> None:
    """Print one line for each measured target."""
    rows = judged(figures)
    if not rows:
        return
    print(f"\n{'target':54} {'measured':>12} {'wanted':>12}")
    for row in rows:
        print(f"{row.title:54} {row.measured:>12} {row.wanted:>12}  {row.verdict}")
    met = sum(row.verdict == "met" for row in rows)
    print(f"{met} of {len(rows)} met; {RECOVERY}")


def compared(run: Saved, last: Saved | None) -> None:
    """Print one line for each comparable figure; rates are not comparable."""
    if last is None:
        print("\nno last result to compare with; --save makes this one the last")
        return
    rows = differences(run.figures, last.figures)
    if not rows:
        return
    print(
        f"\nbeside the last result ({last.date}, {last.commit}, {last.machine['cpu']}, "
        f"{last.machine['cores']} cores, load {last.machine['load']}):\n"
        f"{'CPU ms a step, and ratios':32} {'new':>9} {'last':>9} {'change':>8}"
    )
    for row in rows:
        print(
            f"{row.figure:32} {shown(row.new, ''):>9} {shown(row.last, ''):>9} "
            f"{row.change:+8.1%}  {row.mark}".rstrip()
        )
    print("Machines differ, and so does what else they do: only ratios hold from one to another.")


def crowd(figures: Mapping[str, float]) -> None:
    """Print what the runners' share of the cores means, and the duties that took longest."""
    if "crowd.rate" not in figures:
        return
    prefix = "crowd.tick."
    ticks = [
        f"{name.removeprefix(prefix)} {took:.0f}"
        for name, took in figures.items()
        if name.startswith(prefix)
    ]
    print(
        f"\n{figures['crowd.alive']:,.0f} executions alive, {figures['crowd.pending']:,.0f} steps "
        f"pending: {figures['crowd.rate']:,.0f} steps/s\n"
        f"  the worker of steps used {figures['crowd.runner_share']:.0%} of as many cores as it "
        f"has processes, the whole stack {figures['crowd.stack_share']:.0%} of the machine's\n"
        f"  (with work always waiting a worker takes what it is given: below 70 % it waits for\n"
        f"  PostgreSQL's commits rather than for itself)\n"
        f"  longest tick of each duty, ms: {', '.join(ticks[:10])}"
    )


def backlog(figures: Mapping[str, float]) -> None:
    """Print the figures of the ten tenths."""
    for key, title in (
        ("growing", "growing, executions/s"),
        ("rates", "worked off, steps/s"),
        ("cpu_ms", "CPU ms a step"),
    ):
        row = [figures.get(f"backlog.{key}.{tenth}") for tenth in range(1, 11)]
        if row[0] is not None:
            print(f"  backlog, {title:22} " + " ".join(f"{shown(v or 0, ''):>6}" for v in row))


def times(figures: Mapping[str, float]) -> None:
    """Print the duration of each part, and of the whole run."""
    print("\nseconds each part took:")
    for name, took in seconds(figures).items():
        print(f"  {name:16} {took:7.0f}")


def seconds(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds by part, in their order; the whole run, with its servers' start, is the
    last.
    """
    prefix = "seconds."
    found = {part: figures[prefix + part] for part in PARTS if prefix + part in figures}
    return found | ({"all": figures["seconds"]} if "seconds" in figures else {})


def idle(figures: Mapping[str, float]) -> None:
    """Print the figures by process."""
    prefix = "idle.memory."
    names = [name.removeprefix(prefix) for name in figures if name.startswith(prefix)]
    if names:
        print("\nidle, MiB (PSS) and per cent of a core:")
    for name in names:
        memory, cpu = figures[prefix + name], figures[f"idle.cpu.{name}"]
        print(f"  {name:16} {memory:7.1f} {cpu:6.2f}")
    if names:
        print(f"  {'all':16} {figures['idle.memory']:7.1f} {figures['idle.cpu']:6.2f}")
