"""A part of the benchmark in a process with its own database and Redis database.

`python -m tests.benchmarks.part NAME FILE` is that process; it writes its result into FILE as JSON.
The leftovers of one part (a quarter of a million pending steps) do not affect another.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.benchmarks import databases
from tests.benchmarks.cast import Cast, Server
from tests.benchmarks.options import Options
from tests.benchmarks.programs import PROJECT
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import inherited
from valkyr_project.embedded.child import start_child, stop

GIVEN = "BENCH_PART"
REDIS, PLAIN = 3, 4
STOP_STEPS = ((signal.SIGTERM, 30.0),)


def run(stage: Stage, name: str, options: Options) -> dict[str, Any]:
    """Run `tests.benchmarks.<name>` in a separate process and return the result of its
    `measure`.
    """
    result = stage.folder / f"{name}.json"
    with databases.fresh(stage.postgres.url, f"bench_{name}") as database:
        try:
            _carry_out(stage, name, result, _environment(stage, options, database))
        finally:
            for number in (REDIS, PLAIN):
                databases.forget(databases.redis_database(stage.redis.url, number))
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _carry_out(stage: Stage, name: str, result: Path, environment: dict[str, str]) -> None:
    """Wait for that process up to the stage's time limit; the process never outlives this call."""
    child = start_child(
        (sys.executable, "-m", "tests.benchmarks.part", name, str(result)),
        cwd=PROJECT,
        env=environment,
        start_new_session=True,  # Ctrl-C is ours: we end it in order
        death_signal=signal.SIGTERM,
    )
    try:
        status = child.wait(max(0.0, stage.until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError("given up: it takes too long") from None
    finally:
        stop(child, STOP_STEPS)
    if status:
        raise RuntimeError(f"its process ended with status {status}; its output is above")


def _environment(stage: Stage, options: Options, database: str) -> dict[str, str]:
    given = {
        "folder": str(stage.folder),
        "postgres": stage.postgres.pid,
        "redis": stage.redis.pid,
        "scale": options.scale,
        "pairs": options.pairs,
        "concurrency": options.concurrency,
        "quick": options.quick,
    }
    return (
        os.environ
        | inherited()
        | {
            "DATABASE_URL": database,
            "REDIS_URL": databases.redis_database(stage.redis.url, REDIS),
            "BENCH_PLAIN_REDIS_URL": databases.redis_database(stage.redis.url, PLAIN),
            GIVEN: json.dumps(given),
        }
    )


def main(name: str, result: Path) -> None:
    """Measure on the servers of the process that started this one."""
    import django

    django.setup()
    given = json.loads(os.environ[GIVEN])
    cast = Cast(Path(given["folder"]), Server(given["postgres"]), Server(given["redis"]))
    options = Options(
        only=(name,),
        pairs=given["pairs"],
        scale=given["scale"],
        concurrency=given["concurrency"],
        quick=given["quick"],
    )
    try:
        found = importlib.import_module(f"tests.benchmarks.{name}").measure(cast, options)
    finally:
        cast.end_all()
    result.write_text(json.dumps(asdict(found)))


def _end(*_: Any) -> None:
    sys.exit("ended by SIGTERM")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    main(sys.argv[1], Path(sys.argv[2]))
