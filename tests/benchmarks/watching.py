"""Fifty monitors on running executions: their delay, and their cost for the engine.

Repetitions with and without monitors alternate, on the same workflow: chains of twenty steps with
an effect. The engine's CPU is that of its workers, PostgreSQL and Redis. The web process and the
monitors, which run in a separate process, are reported separately. At the end no monitor watches,
so that remaining queries of the web process become visible.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any
from uuid import UUID

import httpx

from tests.benchmarks import shapes
from tests.benchmarks.cpu import tree_seconds
from tests.benchmarks.dispatch_time import sign_in
from tests.benchmarks.options import Options
from tests.benchmarks.programs import PROJECT, engine_worker, web
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.saved import machine
from tests.benchmarks.sides import Engine, wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from valkyr_project.embedded.child import free_port

MONITORS = 50
EXECUTIONS = 200
IDLE = 5.0  # seconds without a viewer


@dataclass(frozen=True, slots=True)
class Turn:
    """One repetition; CPU in milliseconds per step."""

    seconds: float
    engine: float
    web: float
    late: list[float]  # milliseconds from a run's finished_at until its frame came


@dataclass(slots=True)
class Watching:
    """Both sides of each pair, and the queries while no monitor watched."""

    alone: list[Turn] = field(default_factory=list)
    watched: list[Turn] = field(default_factory=list)
    clocks_apart: float = 0.0  # milliseconds, this process's minus the database's
    idle_sessions: int = 0
    idle_web: float = 0.0  # CPU milliseconds a second
    load: float = 0.0

    @property
    def late(self) -> Quantiles:
        """The quantiles of the delay of all frames in all repetitions."""
        return quantiles([one for turn in self.watched for one in turn.late])

    @property
    def more(self) -> float:
        """The share that monitors add to the engine's CPU: the median of the pairs."""
        pairs = zip(self.alone, self.watched, strict=True)
        return median([watched.engine / alone.engine - 1 for alone, watched in pairs])


def measure(stage: Stage, options: Options) -> Watching:
    """Measure pairs of repetitions; the two sides begin alternately."""
    worker = stage.add(engine_worker(stage.folder, concurrency=options.concurrency))
    port = free_port()
    server = stage.add(web(stage.folder, port))
    workflow = Engine(stage, worker).publish(shapes.chain("bench.effect"))
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        sign_in(client, stage)
        token = client.headers["Authorization"].removeprefix("Bearer ")
    pids = [worker.pid, stage.postgres.pid, stage.redis.pid]
    bench = _Bench(stage, workflow, port, token, pids, server.pid)
    bench.turn(watched=True, executions=MONITORS)  # warm
    found = Watching(clocks_apart=_clocks_apart(), load=machine()["load"])
    executions = max(MONITORS, round(EXECUTIONS * options.scale))
    for number in range(options.pairs):
        for watched in (False, True) if number % 2 else (True, False):
            made = bench.turn(watched=watched, executions=executions)
            (found.watched if watched else found.alone).append(made)
        say(f"pair {number + 1}/{options.pairs}: {_said(found)}")
    found.idle_sessions, found.idle_web = _idle(server.pid)
    return found


def report(found: Watching) -> None:
    """Print the figures and their targets."""
    late = found.late
    alone, watched = (
        median([turn.engine for turn in side]) for side in (found.alone, found.watched)
    )
    serving = median([turn.web for turn in found.watched])
    print(
        f"\n{MONITORS} monitors, load {found.load}; clocks {found.clocks_apart:.2f} ms apart\n"
        f"finished -> frame: p50 {late.p50:.0f} ms, p95 {late.p95:.0f} ms, p99 {late.p99:.0f} ms "
        "(target: p95 500 ms)\n"
        f"engine: {alone:.2f} ms CPU a step alone, {watched:.2f} watched; median of the pairs "
        f"{found.more:+.1%} (target: +3%); web {serving:.2f} ms a step\n"
        f"nobody watches: {found.idle_sessions} sessions of the web process asked anything in "
        f"{IDLE:.0f} s, {found.idle_web:.1f} ms CPU a second"
    )


@dataclass(frozen=True, slots=True)
class _Bench:
    stage: Stage
    workflow: Any
    port: int
    token: str
    engine: list[int]  # the roots of the engine's process trees
    web: int

    def turn(self, *, watched: bool, executions: int) -> Turn:
        """Start the executions, watch the first fifty or none, and wait until all have ended."""
        from executions.access.actor import Actor
        from executions.models import WorkflowExecution
        from executions.triggers.start import start_batch

        monitors = _monitors() if watched else None
        before = self._seconds()
        began = time.monotonic()
        payloads = [{"n": n} for n in range(executions)]
        made = start_batch(self.workflow, payloads, actor=Actor.system("benchmark"))
        ids = [execution.pk for execution in made]
        told = self._watch(monitors, ids[-MONITORS:]) if monitors else None
        ours = WorkflowExecution.objects.filter(pk__in=ids)
        wait(lambda: not ours.exclude(state="SUCCESS").exists(), self.stage, 0.2)
        took = time.monotonic() - began
        engine, serving = (
            1000 * (now - then) / (executions * shapes.CHAIN)
            for now, then in zip(self._seconds(), before, strict=True)
        )
        return Turn(took, engine, serving, _late(told) if told else [])

    def _watch(self, monitors: "subprocess.Popen[str]", ids: list[UUID]) -> dict[str, Any]:
        given = {"host": "127.0.0.1", "port": self.port, "token": self.token}
        said, _ = monitors.communicate(json.dumps(given | {"ids": [str(pk) for pk in ids]}) + "\n")
        if monitors.returncode:
            raise RuntimeError(f"the monitors failed.\n{self.stage.last_lines()}")
        found: dict[str, Any] = json.loads(said)
        return found

    def _seconds(self) -> tuple[float, float]:
        return sum(map(tree_seconds, self.engine)), tree_seconds(self.web)


def _monitors() -> "subprocess.Popen[str]":
    """Start the process, which waits for its ids."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.watchers"],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _late(told: dict[str, Any]) -> list[float]:
    if told["live"] < MONITORS:
        say(f"only {told['live']} of {MONITORS} executions still ran when they were watched")
    return [1000 * (at - datetime.fromisoformat(end).timestamp()) for at, end in told["seen"]]


def _clocks_apart() -> float:
    """Return the difference between this process's clock and the database's, from the fastest of
    some round trips.
    """
    from executions.database.clock import database_now

    found = []
    for _ in range(20):
        before = time.time()
        theirs = database_now().timestamp()
        after = time.time()
        found.append((after - before, 1000 * ((before + after) / 2 - theirs)))
    return min(found)[1]


def _idle(server: int) -> tuple[int, float]:
    """Return the number of sessions in which the web process ran queries while no monitor watched,
    and the process's CPU.
    """
    from django.db import connection

    time.sleep(3)  # the last look may still be under way
    before = tree_seconds(server)
    time.sleep(IDLE)
    spent = 1000 * (tree_seconds(server) - before) / IDLE
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'valkyr-web' "
            "AND query_start > clock_timestamp() - %s * interval '1 second'",
            [IDLE],
        )
        row = cursor.fetchone()
    return (int(row[0]) if row else 0), spent


def _said(found: Watching) -> str:
    alone, watched = found.alone[-1], found.watched[-1]
    return (
        f"{alone.engine:.2f} ms CPU a step alone ({alone.seconds:.1f} s), {watched.engine:.2f} "
        f"watched ({watched.seconds:.1f} s), p95 {quantiles(watched.late).p95:.0f} ms late"
    )
