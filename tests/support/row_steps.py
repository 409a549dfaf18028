"""`test.row`: a step that writes a row in the transaction that records it, then misbehaves.

Its rows are counted by step, which reveals lost and duplicate rows.
"""

import os
import signal
import time
from contextlib import suppress
from typing import Any

from django.db import DatabaseError, connection, transaction

from runners.modules.base import StepContext, StepError
from runners.modules.function_step import MODULE_ATTRIBUTE, step
from runners.states import ErrorType

CREATE = """
CREATE TABLE IF NOT EXISTS test_rows (
    id bigserial PRIMARY KEY,
    execution uuid NOT NULL,
    step text NOT NULL,
    attempt int NOT NULL,
    parent bigint REFERENCES test_rows DEFERRABLE INITIALLY DEFERRED
)
"""
WRITE = "INSERT INTO test_rows (execution, step, attempt, parent) VALUES (%s, %s, %s, %s)"


@step("test.row", effect="database", retry="none")
def row(ctx: StepContext, way: str = "", seconds: float = 0, kills: int = 0) -> str:
    """Write a row; `way` is the kind of failure, `kills` the number of first attempts that are
    killed afterwards.
    """
    from tests.support.modules import leave_mark

    tries = leave_mark(ctx) if kills or way in ("refused once", "killed by chance") else 0
    with connection.cursor() as cursor:
        parent = -1 if way == "refused at the commit" else None
        cursor.execute(WRITE, [ctx.execution_id, ctx.step_path, ctx.attempt, parent])
    if tries <= kills and kills:
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "refused once" and tries == 1:
        raise StepError("refused once", ErrorType.TRANSIENT)
    if way in WRONG:
        WRONG[way]()
    time.sleep(seconds)
    return "written"


def _fail() -> None:
    raise ValueError("no more stock")


def _catch() -> None:
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


def _commit() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ROLLBACK")


def _hook() -> None:
    transaction.on_commit(_fail)


def _sleep_in_the_server() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(30)")


WRONG: dict[str, Any] = {
    "fails": _fail,
    "catches": _catch,
    "ends the transaction": _commit,
    "rolls back": lambda: transaction.set_rollback(True),
    "closes": connection.close,
    "hook": _hook,
    "sleeps in the server": _sleep_in_the_server,
}
MODULE = getattr(row, MODULE_ATTRIBUTE)


def rows(execution_id: Any) -> list[tuple[str, int]]:
    """Return step and attempt of the rows that an execution's steps wrote, in order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT step, attempt FROM test_rows WHERE execution = %s ORDER BY id", [execution_id]
        )
        return [(str(path), int(attempt)) for path, attempt in cursor.fetchall()]
