"""The steps in a workflow on the real engine; the test answers for the warehouse."""

from pathlib import Path

import pytest
from own_steps.discount import discount
from own_steps.size import size
from own_steps.stock import Stock

from runners.testing import in_turn

ORDER = Path(__file__).with_name("order.yaml")
MANY = {"available": 7, "article": "AB-1"}


@pytest.fixture(autouse=True)
def _installed(valkyr):
    valkyr.install(discount, size, Stock)


def test_a_large_order_costs_less(valkyr):
    order = {"article": "AB-1", "total": 200_000}

    run = valkyr.start(ORDER, order, answers={"shop.stock": MANY})

    run.assert_state("SUCCESS").assert_ran(["stock", "size", "less"])
    assert run.output == {"total": 180_000, "saved": 20_000}


def test_a_warehouse_that_is_down_is_asked_again(valkyr):
    answers = {"stock": in_turn(ConnectionError("down"), MANY)}

    run = valkyr.start(ORDER, {"article": "AB-1", "total": 1}, answers=answers)

    run.assert_state("RUNNING").advance_time().assert_state("SUCCESS")
    run.assert_outcome("size", "small").assert_outcome("less", "skipped")
    assert run.attempts("stock") == 2
