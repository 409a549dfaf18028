"""Workflows may use the steps of `flows` while these tests run; other tests cannot."""

from collections.abc import Iterator

import pytest

from tests.plugins.python_workflows import flows
from tests.support.python_steps import steps_of
from valkyr_plugins.python_workflows.workflow import DECLARED


@pytest.fixture(scope="module", autouse=True)
def steps_of_these_tests() -> Iterator[None]:
    """Declare the steps of `flows`."""
    with steps_of(flows):
        yield


@pytest.fixture(autouse=True)
def _declared_here() -> Iterator[None]:
    """Forget the workflows that a test declares: `migrate` in another test would publish them."""
    before = list(DECLARED)
    yield
    DECLARED[:] = before
