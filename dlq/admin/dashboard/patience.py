"""A figure that cannot be had in time says so and lets the rest of the page stand."""

from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, connection, transaction

PATIENCE_MS = 1_500

T = TypeVar("T")


def soon(query: Callable[[], T]) -> T | None:
    """The query's answer, or None when the database refuses it or a statement takes too long."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = {PATIENCE_MS}")
            return query()
    except DatabaseError:
        return None
