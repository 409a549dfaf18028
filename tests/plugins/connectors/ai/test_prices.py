"""Tests of the price list: pattern precedence, reading of the file, and errors of invalid lists."""

import os
from decimal import Decimal
from pathlib import Path

import pytest

from runners.modules.base import StepError
from valkyr_plugins.connectors.ai.answers import Usage
from valkyr_plugins.connectors.ai.costs import PRICES, charge

USAGE = Usage.model_validate(
    {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 500_000,
        "prompt_tokens_details": {"cached_tokens": 400_000},
    }
)


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "gpt-4o*: {input: 2.5, output: 10, currency: EUR}\n"
        "gpt-4o-mini*: {input: 0.15, output: 0.60, cached: 0.075}\n"
    )
    monkeypatch.setenv(PRICES, str(file))
    return file


def test_the_most_specific_pattern_counts(prices):
    found = charge("gpt-4o-mini-2024-07-18", USAGE)

    # 0.6 million at 0.15, 0.4 million cached by the provider at 0.075, half a million at 0.60.
    assert (found.amount, found.currency) == (Decimal("0.42"), "")


def test_without_a_price_of_their_own_cached_tokens_cost_as_others(prices):
    found = charge("gpt-4o", USAGE)

    assert (found.amount, found.currency) == (Decimal("7.5"), "EUR")


def test_a_model_without_a_price_has_none(prices):
    assert charge("glm-4", USAGE) is None


def test_a_changed_file_is_read_anew(prices):
    assert charge("glm-4", USAGE) is None
    prices.write_text("'*': {input: 1}")
    os.utime(prices, ns=(1, 1))

    assert charge("glm-4", USAGE).amount == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"gpt-4o: 3", "at gpt-4o: Input should be a valid dictionary"),
        (b"gpt-4o: {input: .nan}", "at gpt-4o.input"),
        (b"gpt-4o: {input: 1, currency: Euro}", "at gpt-4o.currency"),
        (b"gpt-4o: {price: 1}", "at gpt-4o"),
        (b"- 1", "at its top"),
        (b"{", "neither YAML nor JSON"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"# " + b"x" * 2_000_000, "2,000,002 bytes"),
    ],
)
def test_a_bad_file_is_told(prices, text, says):
    prices.write_bytes(text)

    with pytest.raises(StepError, match="VALKYR_LLM_PRICES") as caught:
        charge("gpt-4o", USAGE)

    assert says in caught.value.message


def test_a_missing_file_is_told(monkeypatch):
    monkeypatch.setenv(PRICES, "/nowhere/prices.yaml")

    with pytest.raises(StepError, match=r"names the file /nowhere/prices\.yaml"):
        charge("gpt-4o", USAGE)
