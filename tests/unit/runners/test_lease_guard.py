"""The actions for a lease that cannot be renewed, and the reports that a step may still make after
it.
"""

import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.conf import config
from runners.pipeline import lease_guard, self_stops
from runners.pipeline.active_run import ActiveRun
from runners.pipeline.lease_guard import LeaseStage
from runners.pipeline.self_stops import LeaseGuard
from runners.process import last_words
from runners.process.activity_slots import start_of
from runners.segment.work import Work
from tests.support.waiting import wait_until

NOTHING: Any = SimpleNamespace()
LEASES = st.floats(1, 600)


@pytest.mark.parametrize(
    ("age", "due"),
    [
        (0, LeaseStage.HELD),
        (13.9, LeaseStage.HELD),
        (14, LeaseStage.TELL),
        (15.9, LeaseStage.TELL),
        (16, LeaseStage.INTERRUPT),
        (18, LeaseStage.END),
        (1000, LeaseStage.END),
    ],
)
def test_a_step_is_told_then_interrupted_then_ended(age: float, due: LeaseStage) -> None:
    assert lease_guard.stage(age, 20) is due


@given(LEASES, st.floats(0, 2), st.floats(0, 2))
def test_a_stage_never_goes_back_while_a_lease_grows_older(
    lease: float, one: float, other: float
) -> None:
    younger, older = sorted((one * lease, other * lease))
    assert lease_guard.stage(younger, lease) <= lease_guard.stage(older, lease)


@given(LEASES)
def test_a_process_that_looks_late_ends_before_its_lease(lease: float) -> None:
    assert lease_guard.END_AT * lease + 2 * lease_guard.period(lease) < lease


def test_a_step_that_was_told_and_heard_it_has_no_result() -> None:
    run = ActiveRun(NOTHING, until=0, renewed=0)
    assert not run.cancelled()
    run.ending = True
    assert not run.stopped, "it may end in time, with its work done"
    assert run.cancelled()
    assert run.stopped


def test_a_step_that_is_cancelled_is_not_taken_for_one_that_was_stopped() -> None:
    run = ActiveRun(NOTHING, until=0, renewed=0, unwanted=True, ending=True)
    assert run.cancelled()
    assert not run.stopped


def test_no_step_begins_with_little_left_of_its_lease() -> None:
    lease, now = config().lease, time.monotonic()
    assert not self_stops.begins_too_late(now)
    assert not self_stops.begins_too_late(now - 0.7 * lease)
    assert self_stops.begins_too_late(now - 0.8 * lease)


def test_a_lease_counts_from_before_its_claim_was_sent() -> None:
    before = time.monotonic()
    work = Work(UUID(int=1), UUID(int=2), 1, "me", NOTHING, "work.main", None)
    assert before <= work.claimed_at <= time.monotonic()


@pytest.mark.parametrize(("lease", "seconds"), [(20, 0.5), (200, 0.5), (4, 0.1)])
def test_leases_are_checked_forty_times_within_one_and_twice_a_second(
    lease: float, seconds: float
) -> None:
    assert lease_guard.period(lease) == seconds


class Guarded:
    """A guard, the steps that it checks, and the signals that it sends."""

    def __init__(self) -> None:
        self.runs: list[ActiveRun] = []
        self.guard = LeaseGuard(lambda: self.runs)
        self.killed: list[int] = []
        self.interrupted: list[tuple[int, int]] = []

    def run(self, age: float, **more: Any) -> ActiveRun:
        """Return a step whose lease was last renewed `age` leases ago."""
        work: Any = SimpleNamespace(run_id=UUID(int=1), path="work.main")
        renewed = time.monotonic() - age * config().lease
        self.runs = [ActiveRun(work, until=0, renewed=renewed, **more)]
        return self.runs[0]

    def noted(self) -> bool:
        """Return whether the record says that this process ended because of its leases."""
        return last_words.left_by(os.getpid(), str(start_of(os.getpid())))


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    """Create a guard in a worker whose threads do not run in the main thread."""
    monkeypatch.setenv("VALKYR_HEALTH_DIR", str(tmp_path))
    monkeypatch.setattr(self_stops, "of_a_worker", lambda: True)
    monkeypatch.setattr(lease_guard, "period", lambda lease: 3600)  # only the tests look
    made = Guarded()
    monkeypatch.setattr(os, "kill", lambda pid, number: made.killed.append(number))
    monkeypatch.setattr(signal, "pthread_kill", lambda *given: made.interrupted.append(given))
    beginning = threading.Thread(target=made.guard.begin)
    beginning.start()
    beginning.join()
    return made


def test_a_process_notes_that_its_lease_may_end_it_and_takes_that_back(guarded: Guarded) -> None:
    run = guarded.run(0.75)
    guarded.guard.look()
    assert run.ending
    wait_until(guarded.noted, 5, "the note")
    run.renewed = time.monotonic()
    guarded.guard.look()
    assert not run.ending
    wait_until(lambda: not guarded.noted(), 5, "the end of the note")
    assert guarded.killed == guarded.interrupted == []


def test_a_step_in_the_main_thread_is_interrupted_once(guarded: Guarded) -> None:
    run = guarded.run(0.85)
    assert run.in_main_thread
    guarded.guard.look()
    guarded.guard.look()
    main = threading.main_thread().ident
    assert (run.interrupted, guarded.interrupted) == (True, [(main, signal.SIGALRM)])
    other = guarded.run(0.85, in_main_thread=False)
    guarded.guard.look()
    assert (other.interrupted, len(guarded.interrupted)) == (False, 1)
    assert guarded.killed == []


def test_a_process_ends_itself_with_a_note_before_its_lease_does(guarded: Guarded) -> None:
    guarded.run(0.95, in_main_thread=False)
    guarded.guard.look()
    assert guarded.killed[:1] == [signal.SIGKILL]
    assert guarded.noted()


def test_a_process_whose_threads_serve_others_only_tells_its_steps(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_stops._Others, "here", False)
    self_stops.spare_others()
    run = guarded.run(0.95, in_main_thread=False)
    guarded.guard.look()
    assert (run.ending, guarded.killed, guarded.noted()) == (True, [], False)


def test_a_step_that_is_not_wanted_any_more_ends_no_process(guarded: Guarded) -> None:
    run = guarded.run(2, unwanted=True)
    guarded.guard.look()
    assert (run.ending, guarded.killed, guarded.noted()) == (False, [], False)


def test_the_guard_looks_by_itself_and_outlives_an_error(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_guard, "period", lambda lease: 0.01)
    watching = Guarded()
    failures = iter([OSError("once")])

    def active() -> list[ActiveRun]:
        for error in failures:
            raise error
        return watching.runs

    before = set(threading.enumerate())
    beginning = threading.Thread(target=LeaseGuard(active).begin)
    beginning.start()
    beginning.join()
    [thread] = set(threading.enumerate()) - before
    assert thread.daemon, "it must not keep a worker from its end"
    run = watching.run(0.75)
    try:
        wait_until(lambda: run.ending, 5, "a look")
    finally:
        watching.runs = []


def test_a_frozen_process_looks_as_soon_as_it_resumes(guarded: Guarded) -> None:
    usual = signal.getsignal(signal.SIGCONT)
    frozen = Guarded()
    try:
        LeaseGuard(lambda: frozen.runs).begin()
        run = frozen.run(0.75)
        signal.raise_signal(signal.SIGCONT)
        assert run.ending
    finally:
        frozen.runs = []
        signal.signal(signal.SIGCONT, usual)


def test_programs_that_are_no_workers_are_not_ended(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_stops, "of_a_worker", lambda: False)
    spared = Guarded()
    before = set(threading.enumerate())
    spared.guard.begin()
    run = spared.run(0.95)
    spared.guard.look()
    assert (run.ending, guarded.killed, guarded.interrupted) == (False, [], [])
    assert set(threading.enumerate()) <= before
