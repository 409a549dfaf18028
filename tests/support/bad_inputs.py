"""Run the rows of the modules' tables of bad inputs (`Module.bad_inputs`)."""

from collections.abc import Iterable
from typing import Any

import pytest

from runners.failures.classification import classify
from runners.modules import registry
from runners.modules.base import Bad
from runners.modules.declared import declared
from runners.segment.step_context import StepTimeout, time_limit


def rows(needs: str = "", types: Iterable[str] = ()) -> list[Any]:
    """Return the parameters `module_type, bad` of every row that needs the given server ("" for
    rows that need none).
    """
    wanted = list(types) or sorted(declared())
    return [
        pytest.param(name, bad, id=f"{name}: {bad.what}")
        for name in wanted
        for bad in registry.get(name).bad_inputs
        if bad.needs == needs
    ]


def check_row(module_type: str, bad: Bad, context: Any, server: str = "") -> None:
    """Run one row and compare the failure's class and message with the table."""
    given = _filled(dict(bad.inputs()), server)
    try:
        with time_limit(context.remaining()):
            registry.get(module_type).run(given, context)
    except StepTimeout:
        raise AssertionError("the step's time-out ended it; a bad input must fail before") from None
    except Exception as error:
        failure = classify(error)
    else:
        raise AssertionError(f"{module_type} took it: {bad.what}")
    assert bad.says in failure.message, failure.message
    assert failure.error_type is bad.error_type, failure.message


def _filled(value: Any, server: str) -> Any:
    if isinstance(value, str):
        return value.replace("{server}", server)
    if isinstance(value, dict):
        return {key: _filled(item, server) for key, item in value.items()}
    return [_filled(item, server) for item in value] if isinstance(value, list) else value
