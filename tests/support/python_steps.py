"""Steps that a test's module declares: they exist while it runs, and other tests do not see
them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from runners.modules.registry import _registry
from runners.public.modules import DECORATED
from valkyr_plugins.python_workflows import discovery


@contextmanager
def steps_of(module: ModuleType) -> Iterator[None]:
    """Declare only the steps of that module, and remove them afterwards.

    Other tests of the process have declared their own steps, some of the same type.
    """
    before = dict(_registry._modules)
    declared = [step for step in DECORATED if step.function.__module__ == module.__name__]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery, "DECORATED", declared)
        discovery.register_steps()
        yield
    for name in set(_registry._modules) - set(before):
        del _registry._modules[name]
        _registry._described.pop(name, None)
    _registry._specs = None
