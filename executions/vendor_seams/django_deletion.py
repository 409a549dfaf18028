"""Delete rows in one statement.

Relies on: `QuerySet._raw_delete(using)`, which deletes what the query selects and returns the
number of rows, or None when the query cannot match any (Django 5.2; Django's own cascades use it).
No public way: `QuerySet.delete()` first loads the rows on which other rows may depend.
If it breaks: pruning fails, which the log and the pruning figures show; nothing is deleted.
"""

from typing import Any

from django.db.models import QuerySet


def delete_without_cascade(rows: QuerySet[Any]) -> int:
    """Delete only the rows, without cascades or signals; return the number of deleted rows."""
    return int(rows._raw_delete(rows.db) or 0)
