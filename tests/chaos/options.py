"""The faults to run, from the command line."""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DESCRIPTION = "Inject faults into real processes under load, audit what came of it, report."
EPILOG = """
Servers, workers, beat and API are started for it alone, on 127.0.0.1, and end with it. The exit
code is 1 where a promise was broken; what broke it, the logs and the command that repeats it are
printed. A fault that needs what this machine lacks is reported as not run.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The choices of one call."""

    seed: int
    only: tuple[str, ...]  # slugs; empty: all
    listed: bool
    broker: str
    minutes: float  # of random kills
    crowd: float  # minutes of overload
    kills: int  # inside transactions (together)
    quick: bool
    partitions: bool  # of the runs' table
    json: Path | None
    report: Path | None


def usual_kills(*, quick: bool) -> int:
    """Return the default number of kills inside transactions."""
    return 200 if quick else 1_000


def usual_crowd(*, quick: bool) -> float:
    """Return the default duration of the overload, in minutes."""
    return 0.25 if quick else 1.0


def parse(arguments: Sequence[str]) -> Options:
    """Parse options from the command line; argparse prints help and exits on errors."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("--seed", type=int, help="repeats a run's plan of injections (random)")
    parser.add_argument("--only", default="", metavar="SLUG,SLUG", help="only these faults")
    parser.add_argument("--list", action="store_true", help="name the faults, and stop")
    parser.add_argument("--broker", choices=("redis", "rabbitmq"), default="redis")
    parser.add_argument("--minutes", type=float, help="length of the random kills (3; quick: 0.5)")
    parser.add_argument("--crowd", type=float, help="minutes of overload (1; quick: 0.25)")
    parser.add_argument(
        "--kills", type=int, help="kills inside transactions (together: 1,000; quick: 200)"
    )
    parser.add_argument(
        "--partitions", action="store_true", help="partition the runs' table by time first"
    )
    parser.add_argument(
        "--quick", action="store_true", help="short leases, few repetitions; bounds are not judged"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the report between the file's markers"
    )
    given = parser.parse_args(arguments)
    return Options(
        seed=random.randrange(1_000_000) if given.seed is None else given.seed,
        only=tuple(slug for slug in given.only.split(",") if slug),
        listed=given.list,
        broker=given.broker,
        minutes=given.minutes or (0.5 if given.quick else 3.0),
        crowd=given.crowd or usual_crowd(quick=given.quick),
        kills=given.kills or usual_kills(quick=given.quick),
        quick=given.quick,
        partitions=given.partitions,
        json=given.json,
        report=given.report,
    )
