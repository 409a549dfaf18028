"""Limits how long the statements of a page or an endpoint may take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import DatabaseError, connection, transaction

PATIENCE_MS = 1_500

T = TypeVar("T")


@contextmanager
def hurried() -> Iterator[None]:
    """A transaction whose statements are ended when they take too long: OperationalError."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {PATIENCE_MS}")
        yield


def soon(query: Callable[[], T]) -> T | None:
    """The query's answer, or None when the database refuses it or a statement takes too long."""
    try:
        with hurried():
            return query()
    except DatabaseError:
        return None
