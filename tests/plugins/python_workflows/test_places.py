"""A call is named after its variable, which the byte code of each supported Python has."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from valkyr_plugins.python_workflows.tracing import places

SEEN: list[str] = []
WHOLE: Any = None


def call(*_: Any, **__: Any) -> Any:
    SEEN.append(places.variable())
    return _


@contextmanager
def block() -> Iterator[int]:
    SEEN.append(places.variable())
    yield 1


def options(**_: Any) -> Any:
    return call


@pytest.fixture(autouse=True)
def _as_the_tracers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip `call` and `block`, as the tracer skips its functions."""
    own = (call.__code__, block.__wrapped__.__code__)  # type: ignore[attr-defined]
    is_own = places._is_own
    monkeypatch.setattr(places, "_is_own", lambda frame: frame.f_code in own or is_own(frame))
    SEEN.clear()


def named(function: Any) -> list[str]:
    """Return the variables of the calls in the function, in their order."""
    function()
    return list(SEEN)


def test_an_assignment_names_its_call() -> None:
    def body() -> None:
        one = call(1)
        typed: Any = call(key=2)
        spread = call(*[one], key=typed)
        first = call(1)
        second = call(first, spread)
        options(retry=2)(second)
        chosen = options(retry=2)(second)
        del chosen

    assert named(body) == ["one", "typed", "spread", "first", "second", "", "chosen"]


def test_a_block_is_named_by_as() -> None:
    def body() -> None:
        with block() as turn:
            inside = call(turn)
        with block():
            call(inside)

    assert named(body) == ["turn", "inside", "", ""]


def test_names_of_a_module_and_of_a_function_around_count_too() -> None:
    outer = None

    def body() -> None:
        global WHOLE  # noqa: PLW0603 - such an assignment is what is tried
        nonlocal outer
        WHOLE = call(1)
        outer = call(2)

    assert named(body) == ["WHOLE", "outer"]
    assert outer == (2,)


def test_a_call_inside_of_another_expression_has_no_name() -> None:
    def body() -> Any:
        several = [call(1)]
        joined = (*call(2), 1)
        called = str(call(3))
        return call(several, joined, called)

    assert named(body) == [""] * 4
