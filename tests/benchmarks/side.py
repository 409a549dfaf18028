"""One of two engines measured alternately: a process with its own database, broker and worker.

`python -m tests.benchmarks.side` reads orders from standard input, one JSON object per line, and
answers each on standard output. Two sides are alive at once and work one after the other, so that
other load on the machine affects both equally.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, Self

from tests.benchmarks import databases, shapes
from tests.benchmarks.cast import Cast, Server
from tests.benchmarks.cpu import Usage
from tests.benchmarks.programs import PROJECT
from tests.benchmarks.sides import Repetition

GIVEN = "BENCH_SIDE"


class Side:
    """The client of such a process."""

    def __init__(self, cast: Cast, *, name: str, database: str, redis: int, concurrency: int):
        url = os.environ["REDIS_URL"]
        folder = cast.folder / name
        folder.mkdir()
        given = {
            "folder": str(folder),
            "postgres": cast.postgres.pid,
            "redis": cast.redis.pid,
            "concurrency": concurrency,
        }
        addresses = {
            "DATABASE_URL": database,
            "REDIS_URL": databases.redis_database(url, redis),
            GIVEN: json.dumps(given),
        }
        self._child = subprocess.Popen(
            (sys.executable, "-m", "tests.benchmarks.side"),
            cwd=PROJECT,
            env=os.environ | addresses,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child.stdin is not None:
            self._child.stdin.close()  # which ends it, in order
        self._child.wait(60)

    def run(self, workload: str, executions: int, *, anew: bool = False) -> Repetition:
        """Run one repetition, of a new workflow if requested. Raise RuntimeError if the side could
        not.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        order = {"workload": workload, "executions": executions, "anew": anew}
        self._child.stdin.write(json.dumps(order) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        if not answer:
            raise RuntimeError(f"a side ended while it ran {workload}; its output is above")
        found = json.loads(answer)
        return Repetition(**found | {"usage": Usage(**found["usage"])})


def main() -> None:
    """Execute orders until standard input ends."""
    import django

    django.setup()
    from tests.benchmarks.programs import engine_worker
    from tests.benchmarks.sides import Engine

    given = json.loads(os.environ[GIVEN])
    cast = Cast(Path(given["folder"]), Server(given["postgres"]), Server(given["redis"]))
    published: dict[str, Any] = {}
    numbers = count()
    try:
        worker = cast.add(engine_worker(cast.folder, concurrency=given["concurrency"]))
        engine = Engine(cast, worker)
        for line in sys.stdin:
            order = json.loads(line)
            name = order["workload"]
            document, steps = shapes.BY_NAME[name]
            if order["anew"] or name not in published:
                named = document | {"name": f"{name} {next(numbers)}"}
                published[name] = engine.publish(named)
            found = engine.run(published[name], order["executions"], steps)
            print(json.dumps(asdict(found)), flush=True)
    finally:
        cast.end_all()


if __name__ == "__main__":
    main()
