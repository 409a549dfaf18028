"""The rate with a million finished executions that were never analysed, and without them.

Two stacks run at once, each in its own folder. They get work alternately, and each is the first in
half of the rounds. Autovacuum is off for every table of both, so that neither is ever analysed. SQL
creates the rows (filling.py).
"""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import psycopg
from psycopg import sql

from tests.benchmarks import databases
from tests.benchmarks.figures import Figures
from tests.benchmarks.options import Options
from tests.benchmarks.programs import PROJECT
from tests.benchmarks.shipped.client import StackClient, Stretch
from tests.benchmarks.shipped.homes import Homes
from tests.benchmarks.shipped.loads import EVERY, ShippedLoad
from tests.benchmarks.shipped.stack import ShippedStack
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import inherited, say
from valkyr_project.embedded import Postgres

EXECUTIONS = 1_000_000
LEAST = 50_000
RUNS_EACH = 2
REDIS = 6  # receives the messages of the few executions that the rows are copied from
# By turns: (load, executions).
SENT = {"chain-effect": 100, "single-batch": 500}
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"


def measure(stage: Stage, options: Options, homes: Homes) -> Figures:
    """Fill one stack's tables, start both, and measure them alternately."""
    many = max(LEAST, round(EXECUTIONS * options.scale))
    with ExitStack() as stack:
        empty, full = (
            stack.enter_context(homes.fresh(f"shipped-{name}")) for name in ("empty", "full")
        )
        _prepare(empty, stage, 0)
        _prepare(full, stage, many)
        clients = {}
        for name, home in (("empty", empty), ("full", full)):
            running = stack.enter_context(ShippedStack(home, options.concurrency))
            clients[name] = stack.enter_context(StackClient(running, stage))
        for client in clients.values():
            client.settle()
            client.warm_up()
        figures = {"shipped.full.executions": float(many)}
        for load in EVERY:
            if load.name in SENT:
                figures |= _by_turns(clients, load, options)
    return figures


def _by_turns(clients: dict[str, StackClient], load: ShippedLoad, options: Options) -> Figures:
    many = max(20, round(SENT[load.name] * min(1.0, 2 * options.scale)))
    published = {name: client.publish(load.document, load.name) for name, client in clients.items()}
    made: dict[str, list[Stretch]] = {name: [] for name in clients}
    for name, client in clients.items():
        client.measure(published[name], load, max(10, many // 4))
    for turn in range(options.pairs):
        for name in ("empty", "full") if turn % 2 else ("full", "empty"):
            made[name].append(clients[name].measure(published[name], load, many))
    pairs = list(zip(made["empty"], made["full"], strict=True))
    name = f"shipped.full.{load.name}"
    found = {
        f"{name}.empty": median([one.rate for one in made["empty"]]),
        f"{name}.rate": median([one.rate for one in made["full"]]),
        f"{name}.slower": median([1 - full.rate / empty.rate for empty, full in pairs]),
        f"{name}.more_cpu": median([full.cpu_ms / empty.cpu_ms - 1 for empty, full in pairs]),
    }
    say(
        f"shipped-full, {load.title}: {found[f'{name}.empty']:,.0f} steps/s over empty tables, "
        f"{found[f'{name}.rate']:,.0f} over full ones: {-found[f'{name}.slower']:+.1%}; "
        f"CPU a step {found[f'{name}.more_cpu']:+.1%}"
    )
    return found


def _prepare(home: Path, stage: Stage, many: int) -> None:
    """Turn autovacuum off for every table of a folder's database, and fill it."""
    server = Postgres(home)
    server.start()
    try:
        _leave_alone(server.url)
        if many:
            began = time.monotonic()
            _fill(server.url, stage, many)
            say(f"shipped-full: {many:,} executions in {time.monotonic() - began:.0f} s")
    finally:
        server.stop()


def _leave_alone(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for (name,) in connection.execute(TABLES).fetchall():
            statement = sql.SQL("ALTER TABLE {} SET (autovacuum_enabled = false)")
            connection.execute(statement.format(sql.Identifier(name)))


def _fill(url: str, stage: Stage, many: int) -> None:
    redis = databases.redis_database(stage.redis.url, REDIS)
    subprocess.run(
        (sys.executable, "-m", "tests.benchmarks.filling", str(many), str(RUNS_EACH)),
        cwd=PROJECT,
        env=os.environ | inherited() | {"DATABASE_URL": url, "REDIS_URL": redis},
        check=True,
        timeout=max(1.0, min(900.0, stage.until - time.monotonic())),
    )
    databases.forget(redis)
