"""The hot statements, by name, from `sql/`; run on the raw connection, prepared on the server."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection
from psycopg.rows import tuple_row

FOLDER = Path(__file__).with_name("sql")


@cache
def statement(name: str) -> str:
    """The SQL of `sql/<name>.sql` without its comments.

    Comments and indentation are taken out because psycopg caches its reading of a query only up
    to 4,096 characters.
    """
    lines = (FOLDER / f"{name}.sql").read_text().splitlines()
    return " ".join(line.strip() for line in lines if not line.lstrip().startswith("--"))


def fetch(name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run a named statement on Django's connection and return its rows.

    It joins the transaction that is open, or commits by itself.
    """
    connection.ensure_connection()
    raw = connection.connection
    with connection.wrap_database_errors, raw.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(statement(name), params, prepare=True)
        return cursor.fetchall() if cursor.description else []


def fetch_one(name: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first row of a named statement, or None."""
    rows = fetch(name, params)
    return rows[0] if rows else None
