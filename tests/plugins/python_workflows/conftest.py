"""Workflows may use the steps of `flows` while these tests run; other tests cannot."""

from collections.abc import Iterator

import pytest

from tests.plugins.python_workflows import flows
from tests.support.python_steps import steps_of


@pytest.fixture(scope="module", autouse=True)
def steps_of_these_tests() -> Iterator[None]:
    """Declare the steps of `flows`."""
    with steps_of(flows):
        yield
