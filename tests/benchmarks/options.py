"""What to measure, from the command line."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

THROUGHPUT = ("W1e", "W1p", "W2e", "W2p", "W6")
WORKLOADS = (*THROUGHPUT, "W3", "W4", "W5")
DESCRIPTION = "Measure the engine beside plain Celery canvas on PostgreSQL and Redis of its own."
EPILOG = """workloads:
  W1e  chain of 20 steps that declare an effect, each reading the one before; 400 executions
  W1p  the same with pure inline steps
  W2e  1 step, then 50 in parallel, then 1 join, all with an effect; 100 executions
  W2p  the same with pure inline steps
  W6   one execution that maps over 10,000 items with one pure step; Celery's side is a chord
  W3   one single-step execution at a time over HTTP: time to the first line, and to the record
  W4   800 executions, each one HTTP call of 2 s, on one io worker of 256 threads
  W5   16 clients trigger for 20 s, one by one and in batches, beside a bare DRF view

The two sides run by turns (engine, Celery, engine, ...) and medians are shown. Numbers of a
shared machine are noisy: trust the ratios. The exit status is 0 even where a target is missed.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """One call's choices."""

    only: tuple[str, ...]
    pairs: int
    scale: float  # share of each workload's full number of executions
    concurrency: int  # worker processes, on both sides
    json: Path | None
    memory: bool
    sleepers: bool
    tables: bool
    modules: bool
    data: bool
    csv: bool
    engine_only: bool
    quick: bool
    triage: bool = False
    dashboards: bool = False
    watching: bool = False
    redrive: bool = False


def parse(arguments: Sequence[str]) -> Options:
    """Options from the command line; argparse explains itself and exits on mistakes."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", metavar="W1e,W3", help="only these workloads")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, under a minute")
    parser.add_argument("--pairs", type=int, help="repetitions of each side (3; 2 with --quick)")
    parser.add_argument("--scale", type=float, help="share of the executions (1; 0.15 if quick)")
    parser.add_argument("--concurrency", type=int, default=2, help="worker processes a side (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here too")
    parser.add_argument(
        "--memory", action="store_true", help="only measure a worker after 1,000 and 10,000 steps"
    )
    parser.add_argument(
        "--sleepers",
        action="store_true",
        help="only measure the API while 10,000 executions wake at one instant",
    )
    parser.add_argument(
        "--tables",
        action="store_true",
        help="only measure the lists over 1,000,000 executions and 5,000,000 runs",
    )
    parser.add_argument(
        "--modules",
        action="store_true",
        help="only measure what 100 installed modules add to a worker's start",
    )
    parser.add_argument(
        "--data", action="store_true", help="only measure what data modules add to a small step"
    )
    parser.add_argument(
        "--csv", action="store_true", help="only measure 1,000,000 rows of CSV, read in batches"
    )
    parser.add_argument(
        "--triage", action="store_true", help="only measure triage over 1,000,000 dead letters"
    )
    parser.add_argument(
        "--dashboards",
        action="store_true",
        help="only measure dashboards over 1,000,000 finished executions",
    )
    parser.add_argument(
        "--redrive",
        action="store_true",
        help="only measure redriving 10,000 dead letters, and 1,000 at a set pace",
    )
    parser.add_argument(
        "--watching", action="store_true", help="only measure 50 monitors on running executions"
    )
    parser.add_argument("--engine-only", action="store_true", help="leave plain Celery out")
    given = parser.parse_args(arguments)
    only = tuple(given.only.split(",")) if given.only else WORKLOADS
    if unknown := sorted(set(only) - set(WORKLOADS)):
        parser.error(f"--only names {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    pairs = given.pairs or (2 if given.quick else 3)
    scale = given.scale or (0.15 if given.quick else 1.0)
    return Options(
        only, pairs, scale, given.concurrency, given.json, given.memory, given.sleepers,
        given.tables, given.modules, given.data, given.csv, given.engine_only, given.quick,
        triage=given.triage, dashboards=given.dashboards, watching=given.watching,
        redrive=given.redrive,
    )  # fmt: skip
