"""One run of the chosen workloads: each measured, each told, none stopping the others."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.benchmarks import figures as flat
from tests.benchmarks import page, part, report, saved, summary
from tests.benchmarks.figures import Figures
from tests.benchmarks.options import PARTS, Options
from tests.benchmarks.saved import Saved
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say


@dataclass
class Run:
    """What was measured so far, and what could not be."""

    stage: Stage
    options: Options
    figures: Figures = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def take(self, name: str, measure: Callable[[], Figures]) -> None:
        """Measure one thing; where it fails, say so and go on with the others."""
        try:
            self.figures |= measure()
        except Exception as error:
            self.failed.append(name)
            say(f"{name} FAILED: {type(error).__name__}: {error}")
            self.stage.end_all()


def measure(stage: Stage, options: Options) -> list[str]:
    """Measure, print, save and write what was asked for; the names of what failed."""
    facts = saved.machine()
    say(", ".join(f"{name} {value}" for name, value in facts.items()))
    last = saved.load()
    run = Run(stage, options)
    _workloads(run)
    for name in PARTS:
        if name in options.only:
            run.take(name, lambda name=name: _of_part(name, run))
    _at_rest(run)
    result = saved.this_run(facts, options.scale, run.figures, _postgres())
    for told in (summary.crowd, summary.backlog, summary.idle, summary.targets):
        told(run.figures)
    if options.scale != 1:
        print(f"sizes at {options.scale:g} of the full ones: what is asked of sizes says nothing")
    summary.compared(result, last)
    _keep(result, options)
    if run.failed:
        print(f"\nFAILED, and therefore not in the figures: {', '.join(run.failed)}")
    return run.failed


def _workloads(run: Run) -> None:
    # Imported here: models need Django to be set up, on the stage's servers.
    from tests.benchmarks import dispatch_time, in_flight, throughput, triggering

    stage, options = run.stage, run.options

    def latencies() -> Figures:
        found = dispatch_time.measure(stage, options)
        report.latencies(found)
        return flat.of_latencies(found)

    def rates() -> Figures:
        found = throughput.measure(stage, options)
        report.throughput(found, options.concurrency)
        return flat.of_throughput(found)

    def calls() -> Figures:
        found = in_flight.measure(stage, options)
        report.in_flight(found)
        return flat.of_calls(found)

    def triggers() -> Figures:
        found = triggering.measure(stage, options)
        report.triggering(found)
        return flat.of_triggers(found)

    run.take("W3", latencies)
    run.take("W1, W2 and W6", rates)
    run.take("W4", calls)
    run.take("W5", triggers)


FIGURES: dict[str, Callable[[Any], Figures]] = {
    "crowd": flat.of_crowd,
    "backlog": flat.of_backlog,
    "full": flat.of_full,
}


def _of_part(name: str, run: Run) -> Figures:
    return FIGURES[name](part.run(run.stage, name, run.options))


def _at_rest(run: Run) -> None:
    """A worker's memory, and a stack of its own that does nothing."""
    from tests.benchmarks import idle, memory

    def growth() -> Figures:
        found = memory.measure(run.stage)
        report.growth(found)
        return flat.of_memory(found)

    if "memory" in run.options.only:
        run.take("memory", growth)
    if "idle" in run.options.only:
        run.take("idle", lambda: flat.of_idle(idle.measure(run.options)))


def _keep(result: Saved, options: Options) -> None:
    if options.json:
        options.json.write_text(json.dumps(asdict(result), indent=2) + "\n")
    if options.save:
        saved.save(result)
        say(f"saved as {saved.LAST}")
    if options.report:
        page.write(options.report, result)
        say(f"wrote the tables of {options.report}")


def _postgres() -> str:
    from django.db import connection

    number = connection.cursor().connection.info.server_version
    return f"{number // 10_000}.{number % 10_000}"
