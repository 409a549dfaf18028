"""Each step alone."""

import pytest
from own_steps.discount import discount
from own_steps.size import size
from own_steps.stock import Stock

from runners.testing import check_bad_inputs, failing_module, run_module


@pytest.mark.parametrize(("percent", "left"), [(0, 999), (10, 900), (100, 0)])
def test_a_discount_is_taken_off(percent, left):
    assert run_module(discount, {"total": 999, "percent": percent}).outputs["total"] == left


def test_a_negative_total_is_refused():
    assert failing_module(discount, {"total": -1}).error_type == "PERMANENT"


def test_large_orders_are_told_from_small_ones():
    assert run_module(size, {"total": 100_000}).outcome == "large"
    assert run_module(size, {"total": 99_999}).outcome == "small"


def test_the_warehouse_fails_as_its_table_says():
    check_bad_inputs(Stock)


def test_each_warehouse_has_a_circuit_of_its_own():
    module = Stock()

    given = module.validated({"warehouse": "https://a.example/v1", "article": "AB-1"})

    assert module.circuit(given) == "shop.stock:a.example"
