"""The state that Django stores next to a connection, and how Django uses it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from executions.vendor_seams import django_connections

pytestmark = pytest.mark.django_db
SEE = "Django's connections have changed: see executions/vendor_seams/django_connections.py"


@pytest.fixture
def other() -> Iterator[Any]:
    """Open a connection in addition to the test's."""
    made = connections.create_connection("default")
    made.inc_thread_sharing()
    made.ensure_connection()
    yield made
    django_connections.discard(made)


@pytest.mark.parametrize(
    "name",
    [
        "health_check_done",
        "in_atomic_block",
        "savepoint_ids",
        "needs_rollback",
        "closed_in_transaction",
        "run_on_commit",
    ],
)
def test_a_connection_has_what_the_seam_writes(other: Any, name: str) -> None:
    assert name in vars(other), f"{name}: {SEE}"


def test_a_connection_that_has_just_answered_is_not_asked_again(other: Any) -> None:
    other.health_check_enabled = True
    other.connection.close()  # the next caller finds it dead
    django_connections.mark_healthy(other)

    other.close_if_health_check_failed()
    assert other.connection is not None, SEE

    other.health_check_done = False
    other.close_if_health_check_failed()
    assert other.connection is None, SEE


def test_a_connection_is_discarded_in_the_middle_of_a_transaction(other: Any) -> None:
    raw = other.connection
    other.set_autocommit(False)
    other.in_atomic_block, other.savepoint_ids, other.needs_rollback = True, ["s1"], True

    django_connections.discard(other)

    assert raw.closed, SEE
    assert other.connection is None, SEE
    with other.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,), SEE


def test_a_connection_that_was_closed_in_a_transaction_is_discarded(other: Any) -> None:
    """A connection that was closed in a transaction is discarded, for example after an interrupted
    Celery task.
    """
    other.set_autocommit(False)
    other.in_atomic_block = True
    other.close()
    assert other.closed_in_transaction, SEE

    django_connections.discard(other)

    with other.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,), SEE


def test_a_pool_is_forgotten_with_the_connection(other: Any) -> None:
    pools = type(other)._connection_pools
    pools["default"] = "a pool of the parent's"
    raw = other.connection

    django_connections.forget(other)

    raw.close()
    assert "default" not in pools, SEE


def test_a_forgotten_connection_is_left_open(other: Any) -> None:
    raw = other.connection

    django_connections.forget(other)

    assert not raw.closed
    assert other.connection is None
    raw.close()


def test_a_hook_that_fails_keeps_no_later_one_from_being_called(other: Any) -> None:
    called: list[int] = []
    other.in_atomic_block = True
    other.on_commit(lambda: 1 / 0)
    other.on_commit(lambda: called.append(1))
    other.in_atomic_block = False

    assert django_connections.hooks_for_commit(other) == 2
    assert django_connections.let_hooks_fail(other, after=0) == 2
    other.run_and_clear_commit_hooks()

    assert called == [1], SEE
