"""A quarter of a million steps wait in the queue while their workers die."""

import os
import signal
import time
from contextlib import suppress
from random import Random
from typing import Any
from uuid import UUID

from django.db import connection

from executions.models import Workflow, WorkflowExecution
from runners.models import Run
from runners.recovery import sweeper
from tests.chaos import bulk
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.auditor import audit
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish

WORKERS = ("default-1", "default-2")
AUDITED = 1_000
TICK = 1.0  # seconds a sweep may take
FIGURES = """
SELECT count(*) FILTER (WHERE r.state = 'SUCCESS'),
       count(*) FILTER (WHERE r.state = 'PENDING'),
       count(*) FILTER (WHERE r.lease_token = 0 AND r.publications > 1),
       count(*) FILTER (WHERE r.lease_token > 0 AND r.publications > 1)
  FROM runners_run r JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE e.workflow_id = %s
"""


def _run(world: World) -> None:
    number, seconds = (5_000, 15) if world.quick else (250_000, 75)
    if not bulk.quick_to_fill(world.broker):
        number = min(number, 20_000)
    workflow = publish({"tasks": [effect("work", seconds=0.05)]})
    _stop_workers(world)
    begun = time.monotonic()
    bulk.fill(world.broker, workflow, number)
    world.figure("steps waiting", number)
    world.figure("inserted in", f"{time.monotonic() - begun:.0f} s")
    try:
        world.fleet.ensure(120)
        ticks = _work_and_die(world, workflow, seconds)
        _stop_workers(world)
        _judge(world, workflow, ticks)
    except Exception:  # an interrupted run drops its database
        _clear(world, workflow)
        raise
    _clear(world, workflow)


def _clear(world: World, workflow: Workflow) -> None:
    _stop_workers(world)
    bulk.clear(workflow)


def _stop_workers(world: World) -> None:
    for name in WORKERS:
        if world.fleet[name].alive():
            world.fleet[name].kill()


def _work_and_die(world: World, workflow: Workflow, seconds: float) -> list[float]:
    """Kill a process every three seconds; return the duration of each sweep during that time."""
    done = Run.objects.filter(execution__workflow=workflow, state="SUCCESS")
    wait_until(done.exists, 60, "the first of the backlog's steps")
    ticks: list[float] = []
    random = Random(world.random.random())
    until, next_kill = time.monotonic() + seconds, 0.0
    while time.monotonic() < until:
        if time.monotonic() > next_kill:
            next_kill = time.monotonic() + 3
            _kill_one(world, random)
        for sweep in (sweeper.often, sweeper.seldom):
            begun = time.monotonic()
            if sweep():  # empty while the control worker processed it
                ticks.append(time.monotonic() - begun)
        time.sleep(0.2)
    return ticks


def _kill_one(world: World, random: Random) -> None:
    """Kill a child, and every tenth time a whole worker."""
    member = world.fleet[random.choice(WORKERS)]
    if not member.alive():
        member.start()
    elif random.random() < 0.1:
        world.injected("kill -9 of a worker", member.pid, *member.children)
        member.kill()
    elif children := member.children:
        pid = random.choice(children)
        world.injected("kill -9 of a child", pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _judge(world: World, workflow: Workflow, ticks: list[float]) -> None:
    done, waiting, doubled, resent = _figures(workflow.pk)
    world.figure("steps done during the fault", done)
    world.figure("steps that still wait", waiting)
    world.figure("sent again after a crash", resent)
    world.figure("longest sweep", f"{max(ticks):.2f} s ({len(ticks)} sweeps)")
    ended = WorkflowExecution.objects.filter(workflow=workflow, state="SUCCESS")
    audit(ended.values_list("pk", flat=True)[:AUDITED])  # here: they are deleted afterwards
    assert doubled == 0, f"{doubled} steps were sent again though their messages are in the queue"
    if not world.quick:
        assert max(ticks) < TICK, f"a sweep took {max(ticks):.2f} s; allowed: {TICK:g} s"


def _figures(workflow: UUID) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(FIGURES, [workflow])
        row = cursor.fetchone()
    assert row is not None
    return tuple(row)


BACKLOG = Fault(
    "backlog",
    "a backlog of 250,000 steps while workers die",
    "sweeps stay under 1 s, nothing is sent twice but what a crash cut off",
    None,
    _run,
    load=Load(rate=0),
)
