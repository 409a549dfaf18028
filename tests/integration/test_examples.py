"""The workflows in `examples/` can be published, and their data gives the README's results."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from executions.definition.catalog import catalog
from executions.definition.graph.document import load_text, normalise
from executions.definition.graph.validation import problems
from executions.definition.limits import limits
from tests.support.pages import parts
from valkyr_project.demo.orders import (
    DISCONTINUED,
    Order,
    Trouble,
    expect,
    number,
    read_orders,
    trouble,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
# test_own_modules.py tests a package of steps, which its workflow needs installed.
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/workflow.yaml"))
WORKFLOWS = sorted(EXAMPLES.glob("*/*.yaml"))


def load(path: Path) -> dict[str, Any]:
    document = load_text(path.read_text(), content_type="application/yaml")
    assert isinstance(document, dict)
    return normalise(document)


@pytest.fixture(scope="module")
def orders() -> list[dict[str, Any]]:
    return read_orders()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_example_can_be_published(path: Path) -> None:
    assert problems(load(path), catalog(), limits()) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_example_is_named_after_its_folder_and_in_the_list(folder: Path) -> None:
    assert load(folder / "workflow.yaml")["name"] == folder.name
    assert f"({folder.name}/README.md)" in (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_page_says_what_comes_out(folder: Path) -> None:
    """Every page says what its workflow returns.

    `make demo` runs order-import; test_walkthrough.py runs the other pages as printed.
    """
    if folder.name != "order-import":
        said = [part for part in parts(folder / "README.md") if part.printed]
        assert said, f"{folder.name}: its page needs a block of what a shell block prints"


def test_all_200_orders_pass_the_door(orders: list[dict[str, Any]]) -> None:
    schema = load(EXAMPLES / "order-import" / "workflow.yaml")["input"]

    refused = {
        order["orderId"]: [
            error.message for error in Draft202012Validator(schema).iter_errors(order)
        ]
        for order in orders
    }

    assert len({order["orderId"] for order in orders}) == 200
    assert {key: found for key, found in refused.items() if found} == {}


def test_every_total_is_the_sum_of_its_items(orders: list[dict[str, Any]]) -> None:
    wrong = [
        order["orderId"]
        for order in orders
        if round(sum(i["quantity"] * i["price"] for i in order["items"]), 2) != order["total"]
    ]

    assert wrong == []


def test_exactly_two_addresses_cannot_be_mailed(orders: list[dict[str, Any]]) -> None:
    assert [o["orderId"] for o in orders if "@" not in o["email"]] == ["ORD-1058", "ORD-1158"]


def test_exactly_four_orders_hold_a_discontinued_article(orders: list[dict[str, Any]]) -> None:
    bad = [o for o in orders if any(i["sku"].startswith(DISCONTINUED) for i in o["items"])]

    assert [o["orderId"] for o in bad] == ["ORD-1033", "ORD-1083", "ORD-1133", "ORD-1183"]


def test_each_branch_of_the_gate_is_well_used(orders: list[dict[str, Any]]) -> None:
    big = sum(order["total"] > 1000 for order in orders)

    assert 10 <= big <= 100


def test_the_partner_has_every_kind_of_trouble_in_store(orders: list[dict[str, Any]]) -> None:
    services = ("reservations", "charges", "shipments")
    found: Counter[Trouble] = Counter()
    for order in orders:
        seen = Order(number(order["orderId"]), tuple(i["sku"] for i in order["items"]))
        found.update(trouble(service, seen) for service in services)

    assert set(found) == set(Trouble)
    assert found[Trouble.HANGS] == 1


def test_every_order_has_an_expected_end(orders: list[dict[str, Any]]) -> None:
    expected = expect(orders)

    assert expected.succeeded + expected.dead.total() == 200
    assert expected.refunded == 5
    assert expected.dead == {"validate.main": 2, "reserve.main": 4, "ship.main": 1}
