"""The number of examples."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--examples",
        type=int,
        help="Requests an operation and caller, as documented and broken on purpose: so many each.",
    )
    parser.addoption(
        "--seconds",
        type=int,
        help="How long each kind of hostile expression and schema is tried, others each time.",
    )
