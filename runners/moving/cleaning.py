"""Copy late rows of a workspace; delete its rows at the source, or in an aborted move's target.

At the source, the rows of live executions are deleted first, because the source's sweeper reads
them until then.
"""

from collections.abc import Callable
from uuid import UUID

from runners.moving import copying
from runners.moving.sessions import MoveSessions, Session, without_triggers
from runners.moving.tables import MovedTable, MoveKind, of_kind

ROWS = 5_000
STUB = "executions.Workspace"


def copy_late(sessions: MoveSessions, workspace: UUID, tell: Callable[[str], None]) -> None:
    """Copy the workspace's rows of the kinds `LATE` and `KEPT`, in batches, after the pause.

    Skips rows that the target already has, so the function can be called again.
    """
    for table in of_kind(MoveKind.LATE, MoveKind.KEPT):
        number = 0
        # A server-side cursor avoids loading all rows. The rows do not change any more.
        with sessions.source.transaction(), sessions.source.cursor(name="late") as listed:
            listed.execute(
                f"SELECT t.id FROM {table.name} t WHERE {table.condition}",
                {"workspace": workspace},
            )
            while found := listed.fetchmany(ROWS):
                number += _copy_missing(sessions, table, [pk for (pk,) in found])
        tell(f"{table.name}: {number} rows")


def _copy_missing(sessions: MoveSessions, table: MovedTable, ids: list[UUID]) -> int:
    with sessions.target.transaction():
        without_triggers(sessions.target)
        rows = sessions.target.execute(f"SELECT id FROM {table.name} WHERE id = ANY(%s)", [ids])
        there = {pk for (pk,) in rows.fetchall()}
        given = {"ids": [pk for pk in ids if pk not in there]}
        return copying.copy(sessions, table, "t.id = ANY(%(ids)s::uuid[])", given)


def remove_source(sessions: MoveSessions, workspace: UUID, tell: Callable[[str], None]) -> None:
    """Delete the workspace's moved rows at the source, except for its audit trail.

    The workspace's own row is kept too, archived: the audit trail refers to it.
    """
    remove_executions(sessions.source, workspace, live=True)
    for table in reversed(of_kind(MoveKind.WHOLE)):
        if table.model._meta.label != STUB:
            _remove(sessions.source, table, workspace)
    tell("settings, schedules and running executions removed from the source")
    number = remove_executions(sessions.source, workspace)
    for table in of_kind(MoveKind.LATE):
        _remove(sessions.source, table, workspace)
    stub = next(one for one in of_kind(MoveKind.WHOLE) if one.model._meta.label == STUB)
    with sessions.source.transaction():
        without_triggers(sessions.source)
        sessions.source.execute(
            f"UPDATE {stub.name} SET archived_at = coalesce(archived_at, clock_timestamp())"
            " WHERE id = %s",
            [workspace],
        )
    tell(f"{number} ended executions removed from the source")


def remove_executions(session: Session, workspace: UUID, *, live: bool = False) -> int:
    """Delete a workspace's executions with all their rows, in batches; return how many.

    With `live`, delete only live executions.
    """
    number = 0
    condition = " AND finished_at IS NULL" if live else ""
    execution = next(one for one in of_kind(MoveKind.EXECUTION) if one.name == copying.EXECUTIONS)
    others = [one for one in of_kind(MoveKind.EXECUTION) if one is not execution]
    while True:
        rows = session.execute(
            f"SELECT id FROM {copying.EXECUTIONS} WHERE workspace_id = %s{condition} LIMIT %s",
            [workspace, copying.BATCH],
        ).fetchall()
        ids = [pk for (pk,) in rows]
        if not ids:
            return number
        with session.transaction():
            without_triggers(session)
            for table in (*others, execution):
                copying.drop(session, table, ids)
        number += len(ids)


def _remove(session: Session, table: MovedTable, workspace: UUID) -> None:
    while True:
        with session.transaction():
            without_triggers(session)
            done = session.execute(
                f"DELETE FROM {table.name} WHERE ctid = ANY(ARRAY("
                f"SELECT t.ctid FROM {table.name} t WHERE {table.condition} LIMIT {ROWS}))",
                {"workspace": workspace},
            )
        if done.rowcount < ROWS:
            return
