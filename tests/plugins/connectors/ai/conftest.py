"""Fixtures: a model server for the tests of AI steps, which an administrator has allowed."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result
from runners.segment.step_context import Context
from tests.support.counterparts.llm import ModelServer


@pytest.fixture(scope="package")
def model_server() -> Iterator[ModelServer]:
    """Run the server; `llm` resets its requests between tests."""
    # As a worker does before it forks, so that imports take no time of a step.
    registry.get("llm.chat").warm_up()
    registry.get("llm.embed").warm_up()
    server = ModelServer()
    yield server
    server.stop()


@pytest.fixture
def step_context(make_context: Callable[..., Context]) -> Context:
    """Return a context with enough time on a busy machine."""
    return make_context(seconds=120)


@pytest.fixture
def llm(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """Return the server without requests; steps find it without a `baseUrl`."""
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("VALKYR_LLM_BASE_URL", model_server.url)
    monkeypatch.delenv("VALKYR_LLM_PRICES", raising=False)
    model_server.requests.clear()
    model_server.headers.clear()
    model_server.asked.clear()
    return model_server


@pytest.fixture
def run(llm: ModelServer, step_context: Context) -> Callable[..., Result]:
    """Return a function that runs a step of a type with a model of the server: `run("llm.chat",
    "tools", …)`.
    """

    def run(module_type: str, model: str, **given: Any) -> Result:
        result = registry.get(module_type).run({"model": model, **given}, step_context)
        assert isinstance(result, Result)
        return result

    return run
