"""Workflows may use the steps of `flows` while these tests run, and no other test meets them."""

from collections.abc import Iterator

import pytest

from runners.modules.registry import _registry
from runners.public.modules import DECORATED
from tests.plugins.python_workflows import flows
from valkyr_plugins.python_workflows import discovery


@pytest.fixture(scope="module", autouse=True)
def steps_of_these_tests() -> Iterator[None]:
    """Declare the steps of `flows` alone, and forget them afterwards.

    Other tests of the process have declared steps of their own, some of one type.
    """
    before = dict(_registry._modules)
    declared = [step for step in DECORATED if step.function.__module__ == flows.__name__]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery, "DECORATED", declared)
        discovery.register_steps()
        yield
    for name in set(_registry._modules) - set(before):
        del _registry._modules[name]
        _registry._described.pop(name, None)
    _registry._specs = None
