"""`python -m tests.benchmarks`: servers of its own, the workloads, the tables."""

import signal
import sys
from collections.abc import Callable
from typing import Any

from tests.benchmarks.options import Options, parse
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say


def main(options: Options) -> None:
    """Measure what was asked for, and print it."""
    if options.modules:
        _modules()
        return
    say("starting PostgreSQL and Redis")
    with Stage() as stage:
        _chosen(options)(stage, options)


def _chosen(options: Options) -> Callable[[Stage, Options], None]:
    """What to measure: one thing by itself, or the workloads."""
    alone = {
        "memory": _memory,
        "sleepers": _sleepers,
        "tables": _tables,
        "triage": _triage,
        "dashboards": _dashboards,
        "redrive": _redrive,
        "watching": _watching,
        "data": _data,
        "csv": _csv,
    }
    return next((way for name, way in alone.items() if getattr(options, name)), _workloads)


def _workloads(stage: Stage, options: Options) -> None:
    # Imported here: models need Django to be set up, on the stage's servers.
    from tests.benchmarks import dispatch_time, in_flight, report, throughput, triggering

    facts = report.machine()
    say(", ".join(f"{name} {value}" for name, value in facts.items()))
    latencies = dispatch_time.measure(stage, options)
    outcomes = throughput.measure(stage, options)
    calls = in_flight.measure(stage, options)
    triggers = triggering.measure(stage, options)
    report.throughput(outcomes, options.concurrency)
    report.latencies(latencies)
    report.in_flight(calls)
    report.triggering(triggers)
    if options.json:
        report.write(options.json, report.as_json(outcomes, latencies, calls, triggers))


def _memory(stage: Stage, options: Options) -> None:
    from tests.benchmarks import memory, report

    report.growth(memory.measure(stage))


def _sleepers(stage: Stage, options: Options) -> None:
    from tests.benchmarks import report, sleepers

    report.sleepers(sleepers.measure(stage, options))


def _tables(stage: Stage, options: Options) -> None:
    from tests.benchmarks import report, tables

    report.tables(tables.measure(stage, options))


def _triage(stage: Stage, options: Options) -> None:
    from tests.benchmarks import triage

    triage.measure(stage, options)


def _dashboards(stage: Stage, options: Options) -> None:
    from tests.benchmarks import dashboards

    dashboards.report(dashboards.measure(stage, options))


def _redrive(stage: Stage, options: Options) -> None:
    from tests.benchmarks import redriving

    redriving.report(redriving.measure(stage, options))


def _watching(stage: Stage, options: Options) -> None:
    from tests.benchmarks import watching

    watching.report(watching.measure(stage, options))


def _modules() -> None:
    from tests.benchmarks import module_start, report

    report.modules(module_start.measure())


def _data(stage: Stage, options: Options) -> None:
    from tests.benchmarks import data_steps

    print(data_steps.table(data_steps.measure()))


def _csv(stage: Stage, options: Options) -> None:
    from tests.benchmarks import csv_rows

    print(csv_rows.told(csv_rows.measure()))


def _end(*_: Any) -> None:
    """Leave in order, so that what was started ends too."""
    sys.exit("ended by SIGTERM")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    try:
        main(parse(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("interrupted")
