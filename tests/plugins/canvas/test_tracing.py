"""Tests of the private parts of Celery's tracer on which we rely.

Run these first after an upgrade of Celery.
"""

from typing import Any
from uuid import uuid4

import pytest
from celery import Celery, Task, signals
from celery.exceptions import Ignore, NotRegistered

from valkyr_plugins.canvas import tracing

app = Celery("tracing", broker="memory://", set_as_current=False)
HEARD: list[Any] = []


class Hooked(Task):
    def before_start(self, *_: Any) -> None:
        HEARD.append("before_start")

    def on_success(self, *_: Any) -> None:
        HEARD.append("on_success")

    def on_failure(self, *_: Any) -> None:
        HEARD.append("on_failure")

    def on_retry(self, *_: Any) -> None:
        HEARD.append("on_retry")

    def after_return(self, state: str, *_: Any) -> None:
        HEARD.append(f"after_return {state}")


@app.task(name="s.half", base=Hooked)
def half(number: int) -> float:
    return 10 / number


@app.task(name="s.seen", bind=True)
def seen(self: Any) -> list[Any]:
    return [self.request.id, self.request.retries, self.request.root_id]


@app.task(name="s.again", bind=True, base=Hooked, max_retries=2)
def again(self: Any, number: int) -> None:
    raise self.retry(args=(number + 1,), countdown=7, exc=ValueError("busy"))


@app.task(name="s.auto", autoretry_for=(ValueError,), retry_backoff=3, retry_jitter=False)
def auto() -> None:
    raise ValueError("busy")


@app.task(name="s.ignored")
def ignored() -> None:
    raise Ignore


def ran(name: str, *args: Any, **request: Any) -> tracing.TaskEnding:
    HEARD.clear()
    return tracing.run(app, name, {"id": str(uuid4()), "args": args, "kwargs": {}, **request})


def test_a_task_that_returns_calls_its_hooks() -> None:
    ended = ran("s.half", 5)

    assert (ended.state, ended.value) == ("SUCCESS", 2.0)
    assert HEARD == ["before_start", "on_success", "after_return SUCCESS"]


def test_a_task_that_raises_calls_its_hooks() -> None:
    ended = ran("s.half", 0)

    assert (ended.state, type(ended.value)) == ("FAILURE", ZeroDivisionError)
    assert HEARD == ["before_start", "on_failure", "after_return FAILURE"]


def test_a_bound_task_sees_its_request() -> None:
    assert ran("s.seen", id="a", retries=3, root_id="r").value == ["a", 3, "r"]


def test_a_retry_sends_nothing_and_tells_what_it_asked_for() -> None:
    ended = ran("s.again", 1)

    assert (ended.state, ended.args, ended.retries, ended.seconds) == ("RETRY", [2], 1, 7.0)
    assert "on_retry" in HEARD


def test_a_tasks_retries_end_at_its_own_limit() -> None:
    ended = ran("s.again", 1, retries=2)

    assert (ended.state, str(ended.value)) == ("FAILURE", "busy")


def test_a_retry_by_itself_backs_off() -> None:
    assert [ran("s.auto", retries=n).seconds for n in (0, 1, 2)] == [3.0, 6.0, 12.0]


def test_a_task_may_ignore_itself() -> None:
    assert ran("s.ignored").state == "IGNORED"


def test_signals_are_sent() -> None:
    heard: list[str] = []
    receivers = {
        name: lambda name=name, **_: heard.append(name)
        for name in ("task_prerun", "task_success", "task_postrun")
    }
    for name, receiver in receivers.items():
        getattr(signals, name).connect(receiver)

    ran("s.half", 5)

    for name, receiver in receivers.items():
        getattr(signals, name).disconnect(receiver)
    assert heard == ["task_prerun", "task_success", "task_postrun"]


def test_an_unknown_task_is_told() -> None:
    with pytest.raises(NotRegistered):
        ran("s.nothing")
