"""Everything that a module reports can be stored, or is rejected in the module itself."""

from decimal import Decimal
from types import SimpleNamespace
from uuid import UUID

import pytest

from executions import payloads
from executions.errors import PayloadError
from runners.pipeline.active_run import ActiveRun
from runners.segment.step_context import MAX_AMOUNT, MAX_ENTRIES, Context, Log
from runners.segment.work import Cost


def context():
    return Context(
        execution_id=UUID(int=1),
        step_path="a.main",
        attempt=1,
        idempotency_key="k",
        seconds=10,
        variables={},
    )


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "x" * 10_000, "\udcff/name\udcfe"])
def test_a_log_of_any_text_can_be_stored(text):
    log = Log()
    log.info(text, value=text, **{text: 1})
    assert payloads.dump(log.kept(), "log")


@pytest.mark.parametrize("value", [float("nan"), -(2**80), b"\xff", object()])
def test_a_log_of_any_value_can_be_stored(value):
    log = Log()
    log.error("said", value=value)
    assert payloads.dump(log.kept(), "log")


def test_messages_past_the_limit_are_counted():
    log = Log()
    for number in range(MAX_ENTRIES + 5):
        log.debug(str(number))
    kept = log.kept()
    assert len(kept) == MAX_ENTRIES + 1
    assert kept[-1]["message"] == "5 more messages were left out"


@pytest.mark.parametrize(
    "cost",
    [
        {"tokens": -1},
        {"tokens": 2**63},
        {"amount": Decimal(-1)},
        {"amount": Decimal("NaN")},
        {"amount": Decimal("Infinity")},
        {"amount": MAX_AMOUNT + 1},
    ],
)
def test_a_cost_that_no_row_can_hold_is_refused(cost):
    with pytest.raises(ValueError, match="a cost is"):
        context().cost(**cost)


def test_costs_add_up():
    ctx = context()
    ctx.cost(tokens=3, amount=Decimal("0.25"))
    ctx.cost(tokens=4, amount=Decimal("0.5"))
    assert [*ctx.costs.values()] == [Cost("", "USD", 0, 0, 7, Decimal("0.75"))]


@pytest.mark.parametrize("details", ["\ud800", float("nan"), {1, 2}, "x" * 100_000])
def test_details_that_cannot_be_stored_fail_the_step_that_gave_them(details):
    """Details that cannot be stored fail the step that gave them.

    They do not fail the renewal, which keeps the leases of all steps of the process.
    """
    beat = ActiveRun(SimpleNamespace(), until=0, renewed=0)
    ctx = context()
    ctx.mind(cancelled=beat.cancelled, details=beat.tell)
    with pytest.raises(PayloadError, match="details of the heartbeat"):
        ctx.heartbeat(details)
    assert beat.details is None
    ctx.heartbeat({"page": 3})
    assert beat.details == '{"page":3}'
