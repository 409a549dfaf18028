"""Fixtures of tests of `python.code` and `javascript.code`: each runs in each sandbox."""

from collections.abc import Callable
from typing import Any

import pytest

from runners.failures.classification import Failure, classify
from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.segment.step_context import Context
from valkyr_plugins.connectors.code import bubblewrap

SANDBOXES = ("builtin", "bubblewrap")


def needs_bubblewrap() -> None:
    """Skip the test if bubblewrap does not work, as in most containers."""
    if cause := bubblewrap.failure():
        pytest.skip(f"bubblewrap does not work on this machine: {cause}")


@pytest.fixture(params=SANDBOXES)
def code_sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Configure a sandbox for the test and return its name."""
    name: str = request.param
    if name == "bubblewrap":
        needs_bubblewrap()
    monkeypatch.setenv("VALKYR_CODE_SANDBOX", name)
    return name


@pytest.fixture
def code_module() -> str:
    """Return the module that runs the code; tests of another language override this fixture."""
    return "python.code"


@pytest.fixture
def run_code(code_sandbox: str, code_module: str, step_context: Context) -> Callable[..., Any]:
    """Return a function that runs code and returns the value of `main`."""

    def run(code: str, inputs: Any = None, **more: Any) -> Any:
        result = registry.get(code_module).run({"code": code, "inputs": inputs, **more},
                                               step_context)  # fmt: skip
        assert isinstance(result, Result)
        return result.outputs["result"]

    return run


@pytest.fixture
def fail_code(run_code: Callable[..., Any]) -> Callable[..., Failure]:
    """Return a function that runs code that must fail, and returns the failure."""

    def fail(code: str, **more: Any) -> Failure:
        with pytest.raises(StepError) as caught:
            run_code(code, **more)
        return classify(caught.value)

    return fail
