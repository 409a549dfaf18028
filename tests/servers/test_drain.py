"""Each kind of process, when asked to end, returns its work and exits cleanly."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from executions.database.clock import database_now
from runners.models import Run, Runner
from tests.support.auditor import audit
from tests.support.fleet import QUICK, Fleet, Member, publishing_to
from tests.support.outages import marks_of, wait_for_mark
from tests.support.web_server import WebServer
from tests.support.workflows import effect, publish, start, wait_for_end

GRACE = 3
BACK = 2.0  # seconds until another worker has the returned steps
# The lease is so long that no worker can have taken a step over because it expired.
PATIENT = QUICK | {"VALKYR_DRAIN_SECONDS": str(GRACE), "VALKYR_LEASE_SECONDS": "60"}


@pytest.fixture(scope="module")
def whole_fleet(engine: None, home: Path) -> Iterator[Fleet]:
    url = os.environ["REDIS_URL"]
    made = Fleet(home, url, PATIENT)
    try:
        made.worker("control", "control", "threads", 2)
        made.worker("default-1", "default", "prefork", 1)
        made.worker("default-2", "default", "prefork", 1)
        made.worker("io-1", "io", "threads", 2)
        made.worker("io-2", "io", "threads", 2)
        made.beat()
        with publishing_to(url):
            yield made
    finally:
        made.stop()


@pytest.fixture
def fleet(whole_fleet: Fleet) -> Fleet:
    """Return the whole fleet; restart the members that an earlier test ended."""
    whole_fleet.ensure()
    return whole_fleet


def end(member: Member, seconds: float = GRACE + 8) -> int:
    """Ask the member to end; return its exit code."""
    assert member._process is not None
    member.ask_to_stop()
    return member._process.wait(seconds)


@pytest.mark.parametrize("queue", ["default", "io"])
def test_a_step_that_is_done_in_time_is_recorded_by_its_worker_that_says_it_leaves(
    fleet: Fleet, queue: str
) -> None:
    execution = start(publish({"tasks": [{**effect("work", seconds=1.5), "queue": queue}]}))
    holder = fleet.member_of(wait_for_mark(execution)["pid"])

    assert end(holder) == 0

    assert wait_for_end([execution])[execution] == "SUCCESS"
    assert len(marks_of(execution, "work.main")) == 1
    assert Runner.objects.get(name__startswith=f"{holder.name}@").leaving_at is not None
    audit([execution])


@pytest.mark.parametrize("queue", ["default", "io"])
def test_a_step_that_takes_longer_is_given_to_another_worker_at_once(
    fleet: Fleet, queue: str
) -> None:
    execution = start(publish({"tasks": [{**effect("work", hangSeconds=50), "queue": queue}]}))
    holder = fleet.member_of(wait_for_mark(execution)["pid"])

    assert end(holder) == 0
    ended = database_now()

    again = wait_for_mark(execution, number=2)
    assert (again["at"] - ended).total_seconds() < BACK
    assert wait_for_end([execution])[execution] == "SUCCESS"
    assert Run.objects.get(execution_id=execution).recoveries == 0, "it did not crash"
    audit([execution])


@pytest.mark.parametrize("queue", ["default", "io"])
def test_the_next_step_of_a_segment_is_begun_elsewhere(fleet: Fleet, queue: str) -> None:
    tasks = [
        {**effect(f"e{n}", after=f"e{n - 1}" if n else None, seconds=0.8), "queue": queue}
        for n in range(5)
    ]
    execution = start(publish({"tasks": tasks}))
    holder = fleet.member_of(wait_for_mark(execution, "e0.main")["pid"])

    assert end(holder) == 0

    assert wait_for_end([execution])[execution] == "SUCCESS"
    left = [marks_of(execution, f"e{n}.main") for n in range(5)]
    assert [len(marks) for marks in left] == [1] * 5, "a step was cut off or done twice"
    assert left[4][0]["pid"] != left[0][0]["pid"], "the worker that ends did all of them"
    audit([execution])


def test_the_control_worker_and_beat_end_in_order(fleet: Fleet) -> None:
    assert end(fleet["control"]) == 0
    assert end(fleet["beat"]) == 0


def test_the_web_process_answers_what_it_has_begun(engine: None, tmp_path: Path) -> None:
    server = WebServer(tmp_path / "web.log")
    server.start()
    try:
        with httpx.Client(base_url=server.address) as kept:
            kept.get("/actuator/health/live")  # an idle connection must not delay it
            os.kill(server.pid, signal.SIGTERM)
            assert server._process is not None
            assert server._process.wait(10) == 0
    finally:
        if server.alive():
            server.kill()
