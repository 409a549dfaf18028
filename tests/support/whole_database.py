"""Find a text in every column of every table of the test's database."""

from django.db import connection

COLUMNS = """
SELECT table_name, column_name, data_type
  FROM information_schema.columns
 WHERE table_schema = current_schema() AND data_type IN
       ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY')
"""


def columns_with(text: str) -> list[str]:
    """Return the columns, as `table.column`, in which any row contains the text."""
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        columns = cursor.fetchall()
        return [
            f"{table}.{column}"
            for table, column, kind in columns
            if _holds(cursor, table, column, kind, text)
        ]


def _holds(cursor, table: str, column: str, kind: str, text: str) -> bool:
    if kind == "bytea":
        cursor.execute(
            f'SELECT count(*) FROM "{table}" WHERE position(%s::bytea IN "{column}") > 0',
            [text.encode()],
        )
    else:
        cursor.execute(
            f'SELECT count(*) FROM "{table}" WHERE strpos("{column}"::text, %s) > 0', [text]
        )
    return bool(cursor.fetchone()[0])
