"""What is due for a lease that cannot be renewed, and what a step may still report then."""

import time
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
from runners.segment.work import Work

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
    work = Work(UUID(int=1), 1, "me", NOTHING, "work.main", None)
    assert before <= work.claimed_at <= time.monotonic()
