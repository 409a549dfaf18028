"""The processes that the watchdog ends, with the real program and real processes, without a
database.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from runners.process import activity_slots, last_words
from runners.process.activity import DESCRIPTOR
from runners.stalls.watchdog import MOST_PERIOD
from tests.support.waiting import wait_until, wait_until_gone

LIMIT, STOPPED = 1.0, 3.0
RUN = "018f0000-0000-7000-8000-000000000001"
# Watched like a worker's process; does what its argument says, then rests.
WATCHED = f"""
import os, signal, sys, threading, time
from uuid import UUID
from runners.process import activity
activity.be_watched()
print(flush=True)
told = sys.stdin.readline().strip()
if told == "lose the heart":
    beats = threading.Thread(target=activity.heart_begins)
    beats.start()
    beats.join()
if told == "execute":
    activity.executes(UUID("{RUN}"), 1)
    print(flush=True)
if told == "leave":
    activity.be_left_alone()
while True:
    time.sleep(60)
"""


@dataclass
class Watched:
    """A watched process, and its watchdog."""

    process: subprocess.Popen[str]
    descriptor: int
    watchdog: int

    def tell(self, what: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()

    def tick(self) -> int:
        """Return the last time at which the process reported that its threads run."""
        return next(head.tick for head in activity_slots.heads(self.descriptor))

    def lives(self) -> bool:
        return self.process.poll() is None


@pytest.fixture
def watched() -> Iterator[Watched]:
    descriptor = activity_slots.create()
    environment = os.environ | {DESCRIPTOR: str(descriptor), "VALKYR_STALL_SECONDS": str(LIMIT)}
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=[descriptor],
        env=environment,
    )
    assert process.stdout is not None
    process.stdout.readline()
    given = str(descriptor), str(LIMIT), str(process.pid), str(activity_slots.start_of(process.pid))
    given += (str(STOPPED),)
    begun = subprocess.run(
        [sys.executable, "-m", "runners.stalls.watchdog", *given],
        input=json.dumps({}).encode(),
        stdout=subprocess.PIPE,
        pass_fds=[descriptor],
        env=environment,
        check=True,
        timeout=30,
    )
    try:
        yield Watched(process, descriptor, int(begun.stdout))
    finally:
        process.kill()
        process.communicate()
        os.close(descriptor)


def test_a_process_that_is_stopped_amid_a_step_ends_before_its_lease(
    watched: Watched,
) -> None:
    watched.tell("execute")
    watched.process.stdout.readline()  # type: ignore[union-attr]
    start = str(activity_slots.start_of(watched.process.pid))
    watched.process.send_signal(signal.SIGSTOP)
    stopped = watched.tick()
    wait_until(lambda: _seconds_since(stopped) > STOPPED - 1, what="most of the time")
    assert watched.lives()
    wait_until(lambda: not watched.lives(), 20, "the end of the process")
    assert last_words.left_by(watched.process.pid, start)


def test_a_process_that_is_stopped_without_a_step_is_left_alone(watched: Watched) -> None:
    watched.process.send_signal(signal.SIGSTOP)
    stopped = watched.tick()
    wait_until(lambda: _seconds_since(stopped) > STOPPED + 3 * MOST_PERIOD, what="several looks")
    assert watched.lives()
    watched.process.send_signal(signal.SIGCONT)
    wait_until(lambda: watched.tick() > stopped, what="the next tick")
    assert watched.lives()


def test_a_process_that_lost_the_thread_that_renews_its_leases_is_ended(watched: Watched) -> None:
    watched.tell("lose the heart")
    wait_until(lambda: not watched.lives(), 20, "the end of the process")
    assert watched.process.returncode == -signal.SIGKILL


def test_a_process_that_left_is_watched_no_longer(watched: Watched) -> None:
    watched.tell("leave")
    wait_until(lambda: not list(activity_slots.heads(watched.descriptor)), what="its leaving")
    left = time.monotonic_ns()
    wait_until(lambda: _seconds_since(left) > LIMIT + 3 * MOST_PERIOD, what="several looks")
    assert watched.lives()


def test_the_watchdog_ends_after_the_last_process_it_watches(watched: Watched) -> None:
    watched.process.kill()
    watched.process.wait()
    wait_until_gone([watched.watchdog])


def _seconds_since(nanoseconds: int) -> float:
    return (time.monotonic_ns() - nanoseconds) / 1e9
