"""Copy the rest of a paused workspace, except late rows, in one transaction of the target.

The commit of that transaction decides: before it, the workspace is in the source; after it, in the
target. The target's sweeper then sends the runs that are due, within a second.
"""

import time
from collections.abc import Callable
from uuid import UUID

from psycopg.errors import QueryCanceled

from executions.models import Workspace, WorkspaceMove
from executions.states import MoveState
from runners.models import Run
from runners.moving import accounts_and_keys, copying
from runners.moving.sessions import MoveSessions, without_triggers
from runners.moving.tables import MoveKind, of_kind

EXECUTIONS, RUNS = copying.EXECUTIONS, Run._meta.db_table
OF_WORKSPACE = (
    f"t.{{key}} IN (SELECT x.id FROM {EXECUTIONS} x WHERE x.workspace_id = %(workspace)s)"
)
# The pause compares the numbers of rows of at most this many copied executions. In a larger
# workspace, it compares only the numbers of executions, because their rows were compared when they
# were copied.
COUNTED = 100_000
OF_LIVE = f"""
  FROM {EXECUTIONS} e
 WHERE e.id = r.execution_id AND e.workspace_id = %(workspace)s AND e.finished_at IS NULL
   AND r.finished_at IS NULL
"""
# Leased runs become pending, because their workers may lose them. The higher token rejects late
# results.
CLAIMED_AGAIN = f"""
UPDATE {RUNS} r
   SET state = 'PENDING', lease_token = r.lease_token + 1, recoveries = r.recoveries + 1,
       leased_by = '', lease_until = NULL, published_at = clock_timestamp(), retry_after = NULL
{OF_LIVE} AND r.state IN ('LEASED', 'RUNNING')
"""
# The sweeper sends the messages of unclaimed runs again within a second.
SENT_AGAIN = f"""
UPDATE {RUNS} r SET published_at = NULL, due_at = clock_timestamp()
{OF_LIVE} AND r.state = 'PENDING' AND r.published_at IS NOT NULL
"""


class PauseTooLong(Exception):
    """The copy did not end within the permitted duration of the pause."""


def is_cut_over(target_alias: str, move: WorkspaceMove) -> bool:
    """Return whether the workspace was switched to the target."""
    rows = WorkspaceMove.objects.using(target_alias).filter(pk=move.pk)
    return rows.filter(state__in=[MoveState.SWITCHED, MoveState.DONE]).exists()


def cut_over(
    sessions: MoveSessions,
    move: WorkspaceMove,
    tier_id: UUID,
    seconds: float,
    tell: Callable[[str], None],
) -> None:
    """Copy a paused workspace's remaining rows, except late rows; call `tell` before the commit.

    Raises PauseTooLong after `seconds`, or RowsDiffer. After either error, the target is unchanged.
    """
    until = time.monotonic() + seconds
    try:
        with copying.snapshot(sessions.source), sessions.target.transaction():
            without_triggers(sessions.target)
            _limit(sessions, until, "the changed executions")
            changed = copying.changed(sessions.source)
            copying.replace(sessions, changed, copying.ended_among(sessions.source, changed))
            number = _copy_rest(sessions, move, until)
            _adapt(sessions, move, tier_id)
            tell(f"{number} rows copied during the pause")
    except QueryCanceled:
        raise _too_long("a statement that waited or took too long") from None


def _copy_rest(sessions: MoveSessions, move: WorkspaceMove, until: float) -> int:
    """Copy live executions and the tables that move as a whole; return the number of rows."""
    given = {"workspace": move.workspace_id}
    number = 0
    for table in of_kind(MoveKind.EXECUTION):
        _limit(sessions, until, table.name)
        number += copying.copy(sessions, table, table.paused, given)
        if move.copied <= COUNTED or table.name == EXECUTIONS:
            _count(sessions, table.name, OF_WORKSPACE.format(key=table.key), given)
    for table in reversed(of_kind(MoveKind.WHOLE)):
        _limit(sessions, until, table.name)
        sessions.target.execute(f"DELETE FROM {table.name} t WHERE {table.condition}", given)
    for table in of_kind(MoveKind.WHOLE):
        _limit(sessions, until, table.name)
        number += copying.copy(sessions, table, table.condition, given)
    return number


def _count(sessions: MoveSessions, table: str, condition: str, given: copying.Given) -> None:
    counts = []
    for session in (sessions.source, sessions.target):
        row = session.execute(
            f"SELECT count(*) FROM {table} t WHERE {condition}",
            given,
        ).fetchone()
        counts.append(row[0] if row else 0)
    if counts[0] != counts[1]:
        raise copying.RowsDiffer(
            f"{table}: the source has {counts[0]} rows, the target {counts[1]}. Abort the move, "
            "then begin again."
        )


def _adapt(sessions: MoveSessions, move: WorkspaceMove, tier_id: UUID) -> None:
    """Set the target's own values in the copied rows, and record the cutover."""
    given = {"workspace": move.workspace_id}
    sessions.target.execute(
        f"UPDATE {Workspace._meta.db_table} SET tier_id = %(tier)s WHERE id = %(workspace)s",
        {**given, "tier": tier_id},
    )
    accounts_and_keys.renumber_permissions(sessions, move.workspace_id)
    sessions.target.execute(CLAIMED_AGAIN, given)
    sessions.target.execute(SENT_AGAIN, given)
    sessions.target.execute(
        f"INSERT INTO {WorkspaceMove._meta.db_table}"
        " (id, workspace_id, source, target, state, copied, started_at)"
        " VALUES (%s, %s, %s, %s, 'SWITCHED', %s, clock_timestamp())"
        # The first database already has this row.
        " ON CONFLICT (id) DO UPDATE SET state = 'SWITCHED'",
        [move.pk, move.workspace_id, move.source, move.target, move.copied],
    )


def _limit(sessions: MoveSessions, until: float, place: str) -> None:
    """Limit each of the next statements to the remaining time of the pause.

    Raises PauseTooLong if no time remains.
    """
    left = int((until - time.monotonic()) * 1000)
    if left <= 0:
        raise _too_long(place)
    for session in (sessions.source, sessions.target):
        session.execute(f"SET LOCAL statement_timeout = {left}")


def _too_long(place: str) -> PauseTooLong:
    return PauseTooLong(
        f"The pause would be too long: the copy had come to {place}. The workspace continues in "
        "its cell. Try again when fewer executions run, or allow a longer pause (--pause)."
    )
