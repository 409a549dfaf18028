"""A second PostgreSQL server as the cell `b`, with its own workers and beat."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
from django.db import connections

from executions.database.routing import serving
from executions.models import Tier, Workflow, Workspace
from runners.models import Runner
from tests.support import nursery
from tests.support.cell_databases import CELL, cells_at
from tests.support.fleet import Fleet
from tests.support.nursery import Begin, from_project
from tests.support.waiting import wait_until, wait_until_gone
from tests.support.workflows import describe, publish, start, task, wait_for_end
from valkyr_project.embedded import Postgres

# A step that begins before a server is killed has time to end after the server's return.
PATIENT = {"timeoutSeconds": 300}
CHAIN = [
    task("one", **PATIENT),
    task("two", after="one", **PATIENT),
    task("three", after="two", **PATIENT),
]


@dataclass
class Cell:
    """The second server, its alias in this process, and its workers."""

    server: Postgres
    alias: str
    fleet: Fleet
    workflow: Workflow

    @property
    def workspace(self) -> Workspace:
        """Return the workspace of the cell's workflow, while it is in this cell."""
        with serving(self.alias):
            return Workspace.objects.get(pk=self.workflow.workspace_id)

    def start(self, number: int) -> list[UUID]:
        """Start executions in the cell, as a web process does; return their ids."""
        with serving(self.alias):
            return [start(self.workflow) for _ in range(number)]

    def succeed(self, ids: list[UUID], seconds: float = 60) -> None:
        """Wait for the executions' end; AssertionError describes those that failed."""
        with serving(self.alias):
            found = wait_for_end(ids, seconds)
            failed = [pk for pk, state in found.items() if state != "SUCCESS"]
            assert not failed, describe(failed)

    def kill(self) -> None:
        """Kill the whole server with SIGKILL."""
        family = psutil.Process(self.server.pid)
        children = [one.pid for one in family.children()]
        os.kill(self.server.pid, signal.SIGKILL)
        wait_until(lambda: not self.server.alive(), 10, "the end of the server")
        wait_until_gone(children)

    def launch(self) -> None:
        """Start the server again; return once it answers."""
        connections[self.alias].close()
        self.server.launch()
        self.server.wait()


@contextmanager
def cell_with_workers(
    home: Path,
    folder: Path,
    redis_url: str,
    extra: Mapping[str, str],
    broker_url: str = "",
    begin: Begin = from_project,
    address: Callable[[str], Any] = str,
) -> Iterator[Cell]:
    """Start a server in `home`, and processes that log in `folder`; end all of them after the
    block.

    The server is durable: tests kill it, and what it has confirmed must not be lost. `address`
    makes its entry in VALKYR_CELLS from its URL.
    """
    server = Postgres(home, durable=True)
    server.start()
    cells = {"VALKYR_CELLS": json.dumps({CELL: address(server.url)})}
    fleet = Fleet(folder, redis_url, {**extra, **cells}, broker_url, begin)
    try:
        told = run(fleet, "add", CELL)
        assert told.startswith("0 "), told
        with cells_at({CELL: server.url}):
            _begin_workers(fleet)
            yield Cell(server, CELL, fleet, _workflow(CELL))
    finally:
        fleet.stop()
        server.stop()


def run(fleet: Fleet, *words: str) -> str:
    """Return the exit code and the output of `manage.py valkyr_cells`, run with the environment of
    web processes.
    """
    program = [sys.executable, "manage.py", "valkyr_cells", *words]
    done = nursery.run(program, environment=fleet.environment, seconds=120)
    return f"{done.returncode} {done.stdout}{done.stderr}"


def _begin_workers(fleet: Fleet) -> None:
    own = {"VALKYR_CELL": CELL}
    fleet.worker("b-control", f"{CELL}:control", "threads", 2, **own)
    fleet.worker("b-default", f"{CELL}:default,{CELL}:io", "prefork", 2, **own)
    fleet.beat("beat-b", **own)
    for member in fleet.members.values():
        wait_until(lambda one=member: _ready(one.name), 60, f"{member.name}'s readiness")


def _ready(name: str) -> bool:
    with serving(CELL):
        return name.startswith("beat") or Runner.objects.filter(name__startswith=name).exists()


def _workflow(alias: str) -> Workflow:
    with serving(alias):
        tier, _ = Tier.objects.get_or_create(name="unlimited")
        space = Workspace.objects.create(name="North", slug="north", tier=tier)
        return publish({"tasks": CHAIN}, space)
