"""`python -m tests.benchmarks`: start servers, measure the workloads, print the tables."""

import signal
import sys
from collections.abc import Callable
from typing import Any

from tests.benchmarks.options import Options, parse
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say


def main(options: Options) -> int:
    """Measure what the options select, and print it; return 1 if a part could not be measured."""
    if options.alone == "modules":
        _modules()
        return 0
    say("starting PostgreSQL and Redis")
    with Stage() as stage:
        if options.alone:
            ALONE[options.alone](stage, options)
            return 0
        from tests.benchmarks import workloads

        return 1 if workloads.measure(stage, options) else 0


def _sleepers(stage: Stage, options: Options) -> None:
    from tests.benchmarks import report, sleepers

    report.sleepers(sleepers.measure(stage, options))


def _tables(stage: Stage, options: Options) -> None:
    from tests.benchmarks import report, tables

    report.tables(tables.measure(stage, options))


def _labels(stage: Stage, options: Options) -> None:
    from tests.benchmarks import labels

    if not labels.measure(stage, options):
        say("some lists by label missed their target")


def _triage(stage: Stage, options: Options) -> None:
    from tests.benchmarks import triage

    triage.measure(stage, options)


def _dashboards(stage: Stage, options: Options) -> None:
    from tests.benchmarks import dashboards

    dashboards.report(dashboards.measure(stage, options))


def _pages(stage: Stage, options: Options) -> None:
    from tests.benchmarks import first_content

    first_content.measure(stage, options)


def _redrive(stage: Stage, options: Options) -> None:
    from tests.benchmarks import redriving

    redriving.report(redriving.measure(stage, options))


def _backtest(stage: Stage, options: Options) -> None:
    from tests.benchmarks import backtesting

    backtesting.report(backtesting.measure(stage, options))


def _cells(stage: Stage, options: Options) -> None:
    from tests.benchmarks import cells

    cells.report(*cells.measure(stage, options))


def _moves(stage: Stage, options: Options) -> None:
    from tests.benchmarks import moving

    moving.report(moving.measure(stage, options))


def _history(stage: Stage, options: Options) -> None:
    from tests.benchmarks import history

    history.report(history.measure(stage, options))


def _watching(stage: Stage, options: Options) -> None:
    from tests.benchmarks import watching

    watching.report(watching.measure(stage, options))


def _prune(stage: Stage, options: Options) -> None:
    from tests.benchmarks import pruning

    pruning.report(pruning.measure(stage, options))


def _partitions(stage: Stage, options: Options) -> None:
    from tests.benchmarks import partitions

    partitions.report(partitions.measure(stage, options))


def _archive(stage: Stage, options: Options) -> None:
    from tests.benchmarks import archiving

    archiving.report(archiving.measure(stage, options))


def _modules() -> None:
    from tests.benchmarks import module_start, report

    report.modules(module_start.measure())


def _data(stage: Stage, options: Options) -> None:
    from tests.benchmarks import data_steps

    print(data_steps.table(data_steps.measure()))


def _csv(stage: Stage, options: Options) -> None:
    from tests.benchmarks import csv_rows

    print(csv_rows.told(csv_rows.measure()))


# Run alone, instead of the workloads; options.ALONE describes each.
ALONE: dict[str, Callable[[Stage, Options], None]] = {
    "sleepers": _sleepers,
    "tables": _tables,
    "labels": _labels,
    "triage": _triage,
    "dashboards": _dashboards,
    "pages": _pages,
    "redrive": _redrive,
    "backtest": _backtest,
    "history": _history,
    "cells": _cells,
    "moves": _moves,
    "watching": _watching,
    "archive": _archive,
    "partitions": _partitions,
    "prune": _prune,
    "data": _data,
    "csv": _csv,
}


def _end(*_: Any) -> None:
    """Exit by the normal order of shutdown, so that everything started ends too."""
    sys.exit("ended by SIGTERM")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    try:
        sys.exit(main(parse(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit("interrupted")
