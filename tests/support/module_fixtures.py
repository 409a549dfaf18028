"""Shared fixtures of module tests: a context as the engine creates it, and a server to talk to."""

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from runners.segment.step_context import Context
from tests.support.partner import Partner

KEY = "0123456789abcdef" * 4


@pytest.fixture
def make_context() -> Callable[..., Context]:
    """Return a function that creates a context as the engine does; `seconds` and `variables` can be
    given.
    """

    def make(*, seconds: float = 10.0, **variables: object) -> Context:
        return Context(
            execution_id=UUID(int=1),
            step_path="charge.pay",
            attempt=1,
            idempotency_key=KEY,
            seconds=seconds,
            variables=variables,
        )

    return make


@pytest.fixture
def step_context(make_context: Callable[..., Context]) -> Context:
    return make_context()


@pytest.fixture
def partner(monkeypatch: pytest.MonkeyPatch) -> Iterator[Partner]:
    """Yield the server, which an administrator has allowed HTTP steps to reach."""
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    server = Partner()
    yield server
    server.stop()
