"""The measurements to run, from the command line."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.plan import GROUPS, PARTS

THROUGHPUT = ("W1e", "W1p", "W2e", "W2c", "W2p", "W6")
WORKLOADS = tuple(name for name in PARTS if name.startswith("W"))
# Each in a separate process and database; see part.py.
APART = ("crowd", "backlog", "full")
EVERYTHING = tuple(name for name, part in PARTS.items() if not part.named)
DESCRIPTION = "Compare the engine with plain Celery canvas, on its own PostgreSQL and Redis."
EPILOG = """workloads:
  W1e      chain of 20 steps that declare an effect, each reading the one before; 400 executions
  W1p      the same with pure inline steps
  W2e      1 step, then 50 in parallel, then 1 join, all with an effect; 100 executions
  W2c      the same, a new workflow each time, which nothing is known of; 4 executions
  W2p      the same with pure inline steps
  W6       one execution that maps over 10,000 items with one pure step; Celery's side is a chord
  W3       one single-step execution at a time over HTTP: time to the first line, and to the record
  W4       800 executions, each one HTTP call of 2 s, on one io worker of 256 threads
  W5       16 clients trigger, one by one and in batches, compared with a bare DRF view
  crowd    10,000 executions alive and 250,000 steps pending: ticks, API, CPU, memory for a minute
  backlog  100,000 single-step executions worked off: the rate and the CPU of each tenth
  full     W1e and W1p over tables with 1,000,000 finished executions, and over empty ones
  memory   a worker's child after 1,000 and 10,000 steps, and after large maps
  idle     everything that `make up` starts, doing nothing: memory and CPU by process

only if --only names them (`shipped` is all of these, and idle: 16 minutes; --quick takes 4):
  shipped-chain   the whole stack as `make up` starts it, compared with plain Celery with acks_late
                  and the bare worker: chains of 20 by execute-batch; CPU of all processes and of
                  both servers
  shipped-fan     the same with fans of 50 + 2: never timed, warm, and pure
  shipped-single  the same with executions of one step: by batches, and from a backlog
  shipped-http    one by one over HTTP: to the first line on an idle stack; 16 clients at once
  shipped-full    rates over 1,000,000 finished executions that no ANALYZE has seen, and over none

The two sides run alternately (engine, Celery, engine, ...) and medians are shown. Numbers of a
shared machine are noisy: trust the ratios. A part that fails or takes far too long is named, left
out, and makes the exit status 1; a missed target does not. Ctrl-C (or SIGTERM) ends a run early:
it still prints, and with --report, --save and --json keeps, what it had measured.
"""
ALONE = {
    "sleepers": "the API while 10,000 executions wake at one instant",
    "tables": "the lists over 1,000,000 executions and 5,000,000 runs",
    "labels": "the lists and counts by label over 10,000,000 executions",
    "modules": "what 100 installed modules add to a worker's start",
    "data": "what data modules add to a small step",
    "csv": "1,000,000 rows of CSV, read in batches",
    "triage": "triage over 1,000,000 dead letters",
    "dashboards": "dashboards over 1,000,000 finished executions",
    "pages": "the first content of pages over 1,000,000 executions and dead letters",
    "redrive": "redriving 10,000 dead letters, and 1,000 at a set pace",
    "backtest": "a backtest of 1,000 executions, of which a counting server hears nothing",
    "cells": "chains on one PostgreSQL, and on four cells: CPU a step and WAL of each server",
    "moves": "the move of a workspace with 1,000,000 finished and 10,000 sleeping executions to "
    "another server",
    "history": "10,000 outputs of 1 MiB in a payload store, one of 60 MiB, and a response of 1 GiB "
    "that is streamed: workers' memory",
    "watching": "50 monitors on running executions",
    "archive": "archiving 1,000,000 executions, and opening some of them",
    "partitions": "steps with and without partitions of runs, and the retention of 1,000,000 runs",
    "prune": "pruning 40,000 executions, and what that costs the steps beside it",
}


# What --labels measures, in this order.
LABEL_LISTS = ("dead-letters", "groups", "admin", "executions")


@dataclass(frozen=True, slots=True)
class Options:
    """The choices of one call."""

    only: tuple[str, ...]
    pairs: int
    scale: float  # share of each workload's full size
    concurrency: int = 2  # worker processes, on both sides
    json: Path | None = None
    engine_only: bool = False
    quick: bool = False
    alone: str = ""  # one of ALONE
    save: bool = False
    report: Path | None = None
    lists: tuple[str, ...] = LABEL_LISTS
    runs: int = 0  # of --partitions


def parse(arguments: Sequence[str]) -> Options:
    """Parse options from the command line; argparse prints help and exits on errors."""
    parser = _parser()
    given = parser.parse_args(arguments)
    usual = WORKLOADS if given.quick else EVERYTHING
    only = _named(given.only) if given.only else usual
    if unknown := sorted(set(only) - set(PARTS)):
        known = ", ".join((*PARTS, *GROUPS))
        parser.error(f"--only names {', '.join(unknown)}; there are {known}")
    if given.scale is not None and not 0 < given.scale <= 1:
        parser.error(f"--scale is {given.scale:g}; expected more than 0 and at most 1")
    lists = tuple(given.lists.split(",")) if given.lists else LABEL_LISTS
    if unknown := sorted(set(lists) - set(LABEL_LISTS)):
        parser.error(f"--lists names {', '.join(unknown)}; there are {', '.join(LABEL_LISTS)}")
    if given.report and not given.report.is_file():
        parser.error(f"--report names {given.report}, which is no file: it has the tables' markers")
    return Options(
        only=only,
        pairs=given.pairs or (2 if given.quick else 3),
        scale=given.scale or (0.15 if given.quick else 1.0),
        concurrency=given.concurrency,
        json=given.json,
        engine_only=given.engine_only,
        quick=given.quick,
        alone=next((name for name in ALONE if getattr(given, name)), ""),
        save=given.save,
        report=given.report,
        lists=lists,
        runs=given.runs,
    )


def _named(text: str) -> tuple[str, ...]:
    """Return the parts of a list of parts and groups."""
    return tuple(part for name in text.split(",") for part in GROUPS.get(name, (name,)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", metavar="W1e,W3", help="only these workloads")
    parser.add_argument("--quick", action="store_true", help="a seventh of the W workloads' work")
    parser.add_argument("--pairs", type=int, help="repetitions of each side (3; 2 with --quick)")
    parser.add_argument("--scale", type=float, help="share of each size (1; 0.15 with --quick)")
    parser.add_argument("--concurrency", type=int, default=2, help="worker processes a side (2)")
    parser.add_argument(
        "--runs", type=int, default=0, help="--partitions: only the retention of this many runs"
    )
    parser.add_argument("--engine-only", action="store_true", help="leave plain Celery out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here too")
    parser.add_argument(
        "--save", action="store_true", help="make this the last result, which later ones meet"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the tables between this page's markers"
    )
    parser.add_argument(
        "--lists", metavar=",".join(LABEL_LISTS), help="with --labels: only these lists"
    )
    alone = parser.add_mutually_exclusive_group()
    for name, what in ALONE.items():
        alone.add_argument(f"--{name}", action="store_true", help=f"only measure {what}")
    return parser
