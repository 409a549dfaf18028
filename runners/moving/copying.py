"""Copy a workspace's rows between two databases, and compare the copied rows afterwards."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from executions.models import WorkflowExecution
from runners.moving.fence import CHANGED
from runners.moving.sessions import MoveSessions, Session, without_triggers
from runners.moving.tables import MovedTable, MoveKind, of_kind

BATCH = 500  # executions per batch; their rows are streamed, not kept in memory
EXECUTIONS = WorkflowExecution._meta.db_table
FIRST = UUID(int=0)
Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExecutionMark:
    """The last ended execution that was copied."""

    at: datetime
    id: UUID


class RowsDiffer(Exception):
    """Rows in the target differ from the rows in the source."""


@contextmanager
def snapshot(session: Session) -> Iterator[None]:
    """Run all statements in the block on one snapshot of the rows."""
    with session.transaction():
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def copy(sessions: MoveSessions, table: MovedTable, condition: str, given: Given) -> int:
    """Copy rows and compare them in both databases; return their number. Raises RowsDiffer.

    Columns whose values are specific to one database get their defaults, if they have any. The rows
    must not change during the copy: call this function in a `snapshot` of the source, or after the
    workspace's pause has begun.
    """
    here = digest(sessions.source, table, condition, given)
    if not here[0]:
        return 0
    left = frozenset(getattr(table.model, "renewed_columns", ()))
    columns = ", ".join(_quoted(one) for one in table.columns if one not in left)
    selected = f"SELECT {columns} FROM {table.name} t WHERE {condition}"
    into = f"COPY {table.name} ({columns}) FROM STDIN (FORMAT BINARY)"
    with (
        sessions.source.cursor() as reading,
        sessions.target.cursor() as writing,
        reading.copy(f"COPY ({selected}) TO STDOUT (FORMAT BINARY)", given) as rows,
        writing.copy(into) as there,
    ):
        for block in rows:
            there.write(block)
    found = digest(sessions.target, table, condition, given)
    if here != found:
        raise RowsDiffer(
            f"{table.name}: the source has {here[0]} rows, the target {found[0]}"
            f"{', with other values' if here[0] == found[0] else ''}. Run the command again."
        )
    return here[0]


def digest(
    session: Session, table: MovedTable, condition: str, given: Given
) -> tuple[int, Decimal]:
    """Return the number of rows, and the sum of their hashes, which exclude renewed columns."""
    same = ", ".join(f"t.{_quoted(one)}" for one in table.columns if one not in table.renewed)
    row = session.execute(
        f"SELECT count(*), coalesce(sum(hashtextextended(ROW({same})::text, 0)::numeric), 0)"
        f" FROM {table.name} t WHERE {condition}",
        given,
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def copy_ended(
    sessions: MoveSessions, workspace: UUID, after: ExecutionMark | None
) -> tuple[ExecutionMark, int] | None:
    """Copy the next ended executions with all their rows; return the last one and how many.

    Return None if no ended execution follows.
    """
    with snapshot(sessions.source):
        # This query uses the index on a workspace's executions.
        found = sessions.source.execute(
            f"SELECT created_at, id FROM {EXECUTIONS} WHERE workspace_id = %(workspace)s"
            " AND finished_at IS NOT NULL AND (created_at, id) > (%(at)s::timestamptz, %(id)s)"
            " ORDER BY created_at, id LIMIT %(most)s",
            {
                "workspace": workspace,
                "at": after.at if after else "-infinity",
                "id": after.id if after else FIRST,
                "most": BATCH,
            },
        ).fetchall()
        ids = [pk for _, pk in found]
        if not ids:
            return None
        with sessions.target.transaction():
            replace(sessions, ids, ids)
    return ExecutionMark(*found[-1]), len(ids)


def catch_up(sessions: MoveSessions) -> int:
    """Copy the executions of at most 5,000 recorded changes again; return the number of executions.

    If an execution is running again, its rows are deleted from the target, and copied again during
    the pause.
    """
    with snapshot(sessions.source):
        found = sessions.source.execute(
            f"DELETE FROM {CHANGED} WHERE ctid = ANY(ARRAY("
            f"SELECT ctid FROM {CHANGED} LIMIT 5000)) RETURNING execution"
        ).fetchall()
        changed = sorted({pk for (pk,) in found})
        for start in range(0, len(changed), BATCH):
            ids = changed[start : start + BATCH]
            with sessions.target.transaction():
                replace(sessions, ids, ended_among(sessions.source, ids))
    return len(changed)


def changed(session: Session) -> list[UUID]:
    """Return the IDs of the executions whose recorded changes have not been copied yet."""
    rows = session.execute(f"SELECT DISTINCT execution FROM {CHANGED}")
    return [pk for (pk,) in rows.fetchall()]


def ended_among(session: Session, ids: Sequence[UUID]) -> list[UUID]:
    """Return the IDs of the given executions that exist and have ended."""
    rows = session.execute(
        f"SELECT id FROM {EXECUTIONS} WHERE id = ANY(%s) AND finished_at IS NOT NULL",
        [list(ids)],
    )
    return [pk for (pk,) in rows.fetchall()]


def replace(sessions: MoveSessions, ids: Sequence[UUID], kept: Sequence[UUID]) -> None:
    """Delete the rows of the executions `ids` in the target, and copy those of `kept` again.

    Call this function in a transaction of the target and a `snapshot` of the source.
    """
    without_triggers(sessions.target)
    for table in of_kind(MoveKind.EXECUTION):
        drop(sessions.target, table, ids)
        if kept:
            condition, given = f"t.{table.key} = ANY(%(ids)s::uuid[])", {"ids": list(kept)}
            copy(sessions, table, condition, given)


def drop(session: Session, table: MovedTable, ids: Sequence[UUID]) -> None:
    """Delete the rows of these executions from a table."""
    session.execute(
        f"DELETE FROM {table.name} t WHERE t.{table.key} = ANY(%s::uuid[])",
        [list(ids)],
    )


def _quoted(name: str) -> str:
    return f'"{name}"'
