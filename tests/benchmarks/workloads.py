"""One run of the chosen workloads: each is measured and reported, and no failure stops the
others.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tests.benchmarks import figures as flat
from tests.benchmarks import page, part, report, saved, summary
from tests.benchmarks.figures import Figures
from tests.benchmarks.options import APART, THROUGHPUT, Options
from tests.benchmarks.run import Run
from tests.benchmarks.saved import Saved
from tests.benchmarks.shipped import told as shipped
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import elapsed, say


def measure(stage: Stage, options: Options) -> list[str]:
    """Measure, print, save and write the selected workloads; return those not measured.

    An interrupted run prints and saves what it has measured.
    """
    facts, postgres = saved.machine(), _postgres()
    say(", ".join(f"{name} {value}" for name, value in facts.items()))
    last = saved.load()
    run = Run(stage, options)
    try:
        _everything(run)
    except (KeyboardInterrupt, SystemExit):
        say("ended by hand: here is what was measured until now")
    run.figures["seconds"] = elapsed()
    result = saved.this_run(facts, options.scale, run.figures, postgres, run.missing)
    _tell(result, last)
    _keep(result, options)
    if run.missing:
        print(f"\nNOT MEASURED, failed or interrupted: {', '.join(run.missing)}")
    return run.missing


def _everything(run: Run) -> None:
    _workloads(run)
    for name in APART:
        run.take(name, lambda name=name: FIGURES[name](part.run(run.stage, name, run.options)))
    _at_rest(run)
    _as_shipped(run)


def _workloads(run: Run) -> None:
    # Imported here: models need Django to be set up, on the stage's servers.
    from tests.benchmarks import dispatch_time, in_flight, triggering

    stage, options = run.stage, run.options

    def latencies() -> Figures:
        found = dispatch_time.measure(stage, options)
        report.latencies(found)
        return flat.of_latencies(found)

    def calls() -> Figures:
        found = in_flight.measure(stage, options)
        report.in_flight(found)
        return flat.of_calls(found)

    def triggers() -> Figures:
        found = triggering.measure(stage, options)
        report.triggering(found)
        return flat.of_triggers(found)

    run.take("W3", latencies)
    _rates(run)
    run.take("W4", calls)
    run.take("W5", triggers)


def _rates(run: Run) -> None:
    """Measure W1, W2 and W6 on the same two workers, and print one table of those that were
    measured.
    """
    from tests.benchmarks import throughput

    turns, outcomes = throughput.Turns(run.stage, run.options), []

    def rates(name: str) -> Figures:
        outcome = turns.measure(name)
        outcomes.append(outcome)
        return flat.of_throughput([outcome])

    try:
        for name in THROUGHPUT:
            run.take(name, lambda name=name: rates(name))
        turns.end()
    finally:
        report.throughput(outcomes, run.options.concurrency)


FIGURES: dict[str, Callable[[Any], Figures]] = {
    "crowd": flat.of_crowd,
    "backlog": flat.of_backlog,
    "full": flat.of_full,
}


def _at_rest(run: Run) -> None:
    """Measure a worker's memory, and a separate idle stack."""
    from tests.benchmarks import idle, memory

    def growth() -> Figures:
        found = memory.measure(run.stage)
        report.growth(found)
        return flat.of_memory(found)

    run.take("memory", growth)
    run.take("idle", lambda: flat.of_idle(idle.measure(run.stage, run.options)))


def _as_shipped(run: Run) -> None:
    from tests.benchmarks.shipped import parts

    parts.measure(run)


def _tell(result: Saved, last: Saved | None) -> None:
    tables = (summary.crowd, summary.backlog, summary.idle, shipped.say_all, summary.targets)
    for told in tables:
        told(result.figures)
    if result.scale != 1:
        print(f"sizes at {result.scale:g} of the full ones: what is asked of sizes says nothing")
    summary.compared(result, last)
    summary.times(result.figures)


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
