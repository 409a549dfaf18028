"""Tests of the result of a sent entry, derived from its rows."""

from uuid import UUID

import pytest

from valkyr_plugins.redrive.driver import judge_execution, judge_step

AGAIN = UUID(int=7)


@pytest.mark.parametrize(
    ("row", "state"),
    [
        ((None, "RUNNING", "PENDING", False), None),
        ((None, "PAUSED", "WAITING", False), None),
        ((None, "RUNNING", "SUCCESS", False), "SUCCEEDED"),
        ((None, "FAILED", "SUCCESS", False), "SUCCEEDED"),  # something else failed the execution
        ((AGAIN, "RUNNING", None, False), "FAILED_AGAIN"),
        ((AGAIN, "RUNNING", "PENDING", False), "FAILED_AGAIN"),  # and was cancelled by a user
        ((AGAIN, "CANCELLED", None, True), "FAILED_AGAIN"),
        ((None, "CANCELLED", None, False), "SKIPPED"),
        ((None, "TIMEOUT", None, False), "FAILED_AGAIN"),
        ((None, "RUNNING", None, True), "SKIPPED"),
        ((None, "RUNNING", "PENDING", True), None),  # a roll-back runs the step again itself
        ((None, "RUNNING", None, False), "FAILED_AGAIN"),
    ],
)
def test_a_step_is_judged_by_its_rows(
    row: tuple[UUID | None, str, str | None, bool], state: str | None
) -> None:
    ended = judge_step(1, *row)

    assert (None if ended is None else str(ended.state)) == state
    if ended is not None and row[0] is not None:
        assert ended.again_id == AGAIN


@pytest.mark.parametrize(
    ("again", "execution", "state"),
    [
        (None, "PENDING", None),
        (AGAIN, "RUNNING", None),
        (None, "SUCCESS", "SUCCEEDED"),
        (AGAIN, "FAILED", "FAILED_AGAIN"),
        (None, "FAILED", "FAILED_AGAIN"),
        (None, "TIMEOUT", "FAILED_AGAIN"),
        (None, "CANCELLED", "SKIPPED"),
    ],
)
def test_a_new_execution_is_judged_by_its_end(
    again: UUID | None, execution: str, state: str | None
) -> None:
    ended = judge_execution(1, again, execution)

    assert (None if ended is None else str(ended.state)) == state
