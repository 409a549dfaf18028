"""Two releases at once: tables are migrated under load, and old and new workers share the steps."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet, publishing_to
from tests.support.releases import NextRelease
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start_many, task, wait_for_end

TASKS = [
    task("begin"),
    *(effect(f"part{n}", after="begin", seconds=0.1) for n in range(3)),
    effect("join", after=["part0", "part1", "part2"], join="all"),
    task("sleep", "flow.delay", "join", **{"with": {"seconds": 1}}),
    effect("flaky", after="sleep", failTimes=1, retry={"maxAttempts": 3, "baseSeconds": 0.2}),
]
KINDS: tuple[tuple[str, str, int], ...] = (("control", "threads", 2), ("default", "prefork", 2))


@pytest.fixture
def fleet(engine: None, home: Path) -> Iterator[Fleet]:
    made = Fleet(home, os.environ["REDIS_URL"])
    try:
        with publishing_to(os.environ["REDIS_URL"]):
            yield made
    finally:
        made.stop()


@pytest.fixture
def coming(fleet: Fleet, tmp_path: Path) -> Iterator[NextRelease]:
    release = NextRelease(tmp_path / "next", fleet.environment)
    yield release
    fleet.stop()
    release.migrate_back()


def test_nothing_is_lost_while_a_release_takes_over(fleet: Fleet, coming: NextRelease) -> None:
    workflow = publish({"tasks": TASKS})
    _add(fleet, "old")
    fleet.beat()
    fleet.ensure()
    ids = start_many(workflow, [{}] * 20)
    wait_until(lambda: _steps(ids, "old") > 5, 60, "steps of the old release")

    coming.migrate()
    ids += start_many(workflow, [{}] * 20)
    old = list(fleet.members.values())
    fleet.place = coming.folder
    _add(fleet, "new")
    fleet.ensure()
    ids += start_many(workflow, [{}] * 20)
    wait_until(lambda: _steps(ids, "new") > 5, 60, "steps of the new release")
    for member in old:
        member.ask_to_stop()
    wait_until(lambda: not any(member.alive() for member in old), 60, "the old release's end")
    fleet.remove("beat")
    fleet.beat()
    ids += start_many(workflow, [{}] * 20)

    assert set(wait_for_end(ids, 120).values()) == {"SUCCESS"}
    audit(ids)
    assert WorkflowExecution.objects.filter(pk__in=ids).count() == 80


def _add(fleet: Fleet, release: str) -> None:
    for queue, pool, concurrency in KINDS:
        fleet.worker(f"{release}-{queue}", queue, pool, concurrency)


def _steps(ids: list[UUID], release: str) -> Any:
    """Return how many steps workers of a release have recorded."""
    done = Run.objects.filter(execution__in=ids, state="SUCCESS")
    return done.filter(leased_by__startswith=f"{release}-").count()
