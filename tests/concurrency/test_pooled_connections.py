"""A process with threads has fewer connections than threads: each step returns its connection while
its module runs.
"""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from executions.egress import workspace_rules
from runners.pipeline import execute, short_lived
from runners.segment.step_context import Context
from tests.support.segments import claimed
from tests.support.single_thread import World
from tests.support.workflows import default_workspace, effect, publish, start

Ask = Callable[[], Any]


def module_runs() -> bool:
    """Hold a step while its module runs; return whether the thread has a connection then."""
    _, work = claimed(start(publish({"tasks": [effect("a")]})), "a.main")
    context = Context(execution_id=UUID(int=1), step_path="a.main", attempt=1,
                      idempotency_key="", seconds=9, variables={})  # fmt: skip
    with execute.held(work, context):
        return connection.connection is not None


def secrets_are_fetched() -> bool:
    connection.ensure_connection()
    short_lived._release()
    return connection.connection is not None


def rules_are_read() -> bool:
    connection.close()
    workspace = default_workspace().pk
    connection.close()
    workspace_rules.forget(workspace)
    execute._egress_rules(workspace)
    return connection.connection is not None


@pytest.fixture(params=[module_runs, secrets_are_fetched, rules_are_read])
def keeps(request: pytest.FixtureRequest, queue: World) -> Iterator[Ask]:
    yield request.param
    connection.ensure_connection()


@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_a_thread_gives_its_connection_back_and_a_process_keeps_it(
    keeps: Ask, monkeypatch: pytest.MonkeyPatch, pool: str
) -> None:
    for module in (execute, short_lived):
        monkeypatch.setattr(module, "pool", lambda: pool)
    assert keeps() is (pool == "processes")


@pytest.mark.parametrize("act", [module_runs, secrets_are_fetched])
def test_a_connection_with_an_open_transaction_is_kept(
    queue: World, monkeypatch: pytest.MonkeyPatch, act: Ask
) -> None:
    for module in (execute, short_lived):
        monkeypatch.setattr(module, "pool", lambda: "threads")
    with transaction.atomic():
        assert act() is True
        transaction.set_rollback(True)


def test_reading_rules_keeps_a_connection_that_was_there(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "pool", lambda: "threads")
    workspace = default_workspace().pk
    workspace_rules.forget(workspace)
    connection.ensure_connection()
    execute._egress_rules(workspace)
    assert connection.connection is not None
