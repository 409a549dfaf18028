"""A backlog made quickly: copies of one waiting execution, in the tables and in the queue.

A copy does not differ from an execution that `start_batch` started among hundreds: it has its own
rows and messages, sent once, and an entry of the audit trail names it.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection
from django.db.models import Model, Q

from executions.models import Activity, WorkflowExecution
from runners.models import Run
from tests.support import copied_messages

HUNDRED = 100  # executions per line of the audit trail
NEW = """
CREATE TEMP TABLE copies ON COMMIT DROP AS
SELECT n, uuidv7() AS id FROM generate_series(1, %s::int) AS n
"""
EXECUTION = {
    "id": "c.id",
    "created_at": "statement_timestamp()",
    "started_at": "statement_timestamp()",
    "deadline_at": "statement_timestamp() + (o.deadline_at - o.started_at)",
    "trace_id": "md5(c.id::text)",
}
RUN = {
    "id": "uuidv7()",
    "execution_id": "c.id",
    "queued_at": "statement_timestamp()",
    "published_at": "statement_timestamp()",
    "due_at": "statement_timestamp() + (o.due_at - o.published_at)",
    "publications": "1",
}


def multiply(first: UUID, number: int) -> list[UUID]:
    """Copy a waiting execution with its messages in Redis; return the new ids.

    Raise LookupError if its messages are not in the queue, ValueError if they are bound to other
    messages.
    """
    if not number:
        return []
    runs = list(Run.objects.filter(execution_id=first).values_list("queue", flat=True))
    originals = copied_messages.waiting(first, runs, len(runs))
    made = copy_rows(first, number)
    copied_messages.send(originals, first, made)
    return made


def copy_rows(first: UUID, number: int) -> list[UUID]:
    """Copy only the rows, marked as sent once; the caller sends their messages. Return the new
    ids.
    """
    with session() as own:
        own.execute(NEW, [number])
        own.execute(_copying(WorkflowExecution, EXECUTION, "o.id = %s", "c.n"), [first])
        own.execute(_copying(Run, RUN, "o.execution_id = %s", "c.n, o.id"), [first])
        made = [pk for (pk,) in own.execute("SELECT id FROM copies ORDER BY n").fetchall()]
    _tell(first, made)
    return made


def analyze() -> None:
    """Update the planner's statistics, as autovacuum does while a real backlog grows."""
    with session(autocommit=True) as own:
        for model in (WorkflowExecution, Run):
            own.execute(f"ANALYZE {model._meta.db_table}".encode())


def session(*, autocommit: bool = False, database: str = "") -> psycopg.Connection[Any]:
    """Open a session without the engine's time limits, and without foreign key checks for each
    row.
    """
    given = connection.get_connection_params() | ({"dbname": database} if database else {})
    names = ("dbname", "user", "password", "host", "port")
    return psycopg.connect(
        autocommit=autocommit,
        options="-c session_replication_role=replica",
        **{name: given[name] for name in names if given.get(name)},
    )


def _copying(model: type[Model], own: Mapping[str, str], original: str, order: str) -> bytes:
    """Return the statement that copies a row for each of `copies`; `own` are the columns that
    differ.
    """
    columns = [field.column for field in model._meta.concrete_fields]
    values = ", ".join(own.get(name, f'o."{name}"') for name in columns)
    names, table = ", ".join(f'"{name}"' for name in columns), model._meta.db_table
    return (
        f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} o CROSS JOIN copies c "
        f"WHERE {original} ORDER BY {order}"
    ).encode()


def _tell(first: UUID, made: Sequence[UUID]) -> None:
    """Add entries of the audit trail for the copies, like the one that names the original."""
    named = Q(object_id=str(first)) | Q(details__executionIds__contains=[str(first)])
    line = Activity.objects.filter(named, action="execution.start").get()
    same = {
        field.attname: getattr(line, field.attname)
        for field in Activity._meta.concrete_fields
        if field.attname not in {"id", "object_id", "details", "created_at"}
    }
    lines = [
        Activity(
            **same,
            object_id=str(batch[0]),
            details=line.details | {"executionIds": [str(pk) for pk in batch]},
        )
        for batch in (made[at : at + HUNDRED] for at in range(0, len(made), HUNDRED))
    ]
    Activity.objects.bulk_create(lines, batch_size=500)
