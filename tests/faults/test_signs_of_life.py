"""Containers' health checks of workers and beat detect hanging processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import current_app

from executions.database.clock import database_now
from runners.models import Runner
from tests.support.fleet import Fleet, Member
from tests.support.stack import PROJECT
from tests.support.waiting import wait_until

SECONDS = "3"


@pytest.fixture
def signs(tmp_path: Path) -> dict[str, str]:
    return {"VALKYR_HEALTH_SECONDS": SECONDS, "VALKYR_HEALTH_DIR": str(tmp_path / "signs")}


@pytest.fixture
def worker(fleet: Fleet, signs: dict[str, str]) -> Iterator[Member]:
    """Run a separate worker of a queue that gets no messages."""
    member = fleet.worker("watched", "quiet", "prefork", 1, **signs)
    try:
        fleet.ensure()
        yield member
    finally:
        fleet.remove("watched")


@pytest.fixture
def beat(fleet: Fleet, signs: dict[str, str]) -> Iterator[Member]:
    member = fleet.beat("beat-watched", **signs)
    try:
        yield member
    finally:
        fleet.remove("beat-watched")


def asked(signs: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Return the exit code and the sentence of a container's check."""
    done = subprocess.run(
        [sys.executable, "runners/process/signs_of_life.py", *arguments],
        cwd=PROJECT,
        env=os.environ | signs,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def well(signs: dict[str, str], *arguments: str) -> bool:
    return asked(signs, *arguments)[0] == 0


def test_a_worker_that_stands_still_is_unwell_until_it_goes_on(
    worker: Member, signs: dict[str, str]
) -> None:
    wait_until(lambda: "consuming" in asked(signs, "worker")[1], 20, "a message that came back")
    wait_until(lambda: well(signs, "worker", "--queue", "quiet"), 20, "the queue's worker")

    os.kill(worker.pid, signal.SIGSTOP)
    wait_until(lambda: not well(signs, "worker"), 20, "the check to notice")
    code, sentence = asked(signs, "worker")
    assert code == 1
    assert f"process {worker.pid}" in sentence
    assert "Restart it" in sentence

    os.kill(worker.pid, signal.SIGCONT)
    wait_until(lambda: well(signs, "worker"), 20, "the check to be content again")


def is_live(worker: Member) -> bool:
    row = Runner.objects.filter(pid=worker.pid).first()
    return row is not None and row.is_live(database_now())


def test_a_stopped_worker_is_not_live_after_35_seconds_until_it_continues(worker: Member) -> None:
    wait_until(lambda: is_live(worker), 20, "the worker's report")

    os.kill(worker.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: not is_live(worker), 40, "the end of its time to respond", bound=True)
    finally:
        os.kill(worker.pid, signal.SIGCONT)

    wait_until(lambda: is_live(worker), 20, "its next report")


def test_a_worker_that_lives_and_gets_no_messages_is_unwell(
    worker: Member, signs: dict[str, str]
) -> None:
    wait_until(lambda: "consuming" in asked(signs, "worker")[1], 20, "a message that came back")
    name = next(iter(current_app.control.inspect(timeout=5).ping() or {}), "").partition("@")[2]

    current_app.control.cancel_consumer(f"canary.watched@{name}")

    wait_until(lambda: not well(signs, "worker"), 20, "the check to notice")
    assert worker.alive()
    assert "receives no messages" in asked(signs, "worker")[1]

    worker.kill()

    assert "No worker has reported" in asked(signs, "worker")[1]


def test_a_beat_that_stands_still_is_unwell_and_one_that_stands_by_is_well(
    fleet: Fleet, beat: Member, signs: dict[str, str]
) -> None:
    wait_until(lambda: well(signs, "beat"), 30, "the first sign")
    wait_until(lambda: "standing by" in asked(signs, "beat")[1], 20, "one that stands by")

    os.kill(beat.pid, signal.SIGSTOP)

    wait_until(lambda: not well(signs, "beat"), 20, "the check to notice")
