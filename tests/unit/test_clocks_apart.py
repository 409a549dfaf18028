"""The parts that would fail if a machine's clock were minutes wrong."""

from datetime import UTC, datetime, timedelta

from runners.modules.base import Wait
from runners.testing import run_module
from valkyr import beat

APART = timedelta(minutes=5)


def test_a_delay_that_is_over_on_this_clock_alone_is_left_to_the_databases() -> None:
    ran = run_module("flow.delay", {"until": (datetime.now(UTC) - APART).isoformat()})

    assert isinstance(ran.waits, Wait)


def test_a_delay_until_yesterday_is_none() -> None:
    ran = run_module("flow.delay", {"until": (datetime.now(UTC) - timedelta(days=1)).isoformat()})

    assert ran.waits is None


def test_no_duty_is_too_old_for_a_worker_that_is_ahead_of_beat() -> None:
    soon = [
        name
        for name, entry in beat.entries().items()
        if entry["options"]["expires"] <= APART.total_seconds()
    ]

    assert not soon
