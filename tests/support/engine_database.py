"""The test database for tests that need commits and other processes: emptied before and after.

Rows are not deleted between the tests of a folder: workers that outlive a test would lose their
work, and each test reads only its own executions.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import connection, connections
from django.test.utils import setup_databases, teardown_databases

from tests.support import emptying, modules
from tests.support.workflows import default_workspace


@contextmanager
def engine_database(blocker: Any, *, keep: bool = False) -> Iterator[None]:
    """Open the database (`django_db_blocker`), empty, with the test modules registered."""
    with blocker.unblock(), ExitStack() as stack:
        # pytest-django makes one only for marked tests, which those of this kind are not.
        if not connection.settings_dict["NAME"].startswith("test_"):
            made = setup_databases(0, False, aliases={"default"}, keepdb=keep)
            stack.callback(teardown_databases, made, 0, keepdb=keep)
        _empty()
        default_workspace()
        modules.install()
        try:
            yield
        finally:
            modules.forget()
            _empty()
            connections.close_all()


def _empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS test_effects, test_rows")
    emptying.empty()
