"""Rows that the tests of a module share: created once, and each test is a savepoint after them.

Each test is rolled back to the shared rows, and these are rolled back after the module's last test;
nothing is ever committed. A fixture of the module creates them with `kept_world`:

    @pytest.fixture(scope="module", autouse=True)
    def world(kept_world: None) -> World: ...

*autouse*, so that every test finds the same rows whether it runs alone or after others. The fixture
returns ids and other values that cannot change: rows are rolled back, objects in memory are not.
Only a test's own messages for after the commit (`on_commit`) are sent, never those of the fixture.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import validate_django_db

# Tests that commit, or read by another connection, would wait for the world's locks forever.
COMMITTING = {"transactional_db", "live_server", "engine"}


@contextmanager
def rolled_back() -> Iterator[None]:
    """Open a transaction in which tests can be nested, and which never commits."""
    if connection.in_atomic_block:
        raise RuntimeError("A world is kept outside of a test's transaction: give it a wider scope")
    outermost = transaction.atomic()
    # As Django marks a test's own: a block that must be the outermost one may be in it.
    outermost._from_testcase = True
    with outermost:
        try:
            yield
        finally:
            transaction.set_rollback(True)


def refuse_commits(tests: list[pytest.Item]) -> None:
    """Fail before the shared rows are built if one of these tests commits: such a test needs its
    own file.
    """
    found = [test.nodeid for test in tests if _commits(test)]
    if found:
        pytest.fail(f"Tests that commit cannot share a kept world: {', '.join(found)}", False)


def _commits(test: pytest.Item) -> bool:
    mark = test.get_closest_marker("django_db")
    asked: Any = getattr(test, "fixturenames", ())
    return (mark is not None and validate_django_db(mark)[0]) or not COMMITTING.isdisjoint(asked)
