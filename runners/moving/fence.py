"""The source's fence: triggers that note changed executions, and reject writes during the pause.

The triggers exist only during a move, so they do not slow other workspaces down before or after
it. Each write to a row of the moving workspace takes a shared advisory lock until its transaction
ends. The pause takes the lock exclusively: then no transaction with such a write is open, and later
transactions see the gate closed.

A rejected INSERT, or UPDATE of settings, raises an error that the API answers with 503. A rejected
UPDATE of a run or an execution, or a DELETE, changes no row, as if another process had been faster.
Claims then find nothing, late results find that the lease is lost, and sweeps of all workspaces
continue.
"""

import time
from collections.abc import Iterator
from enum import StrEnum
from typing import Any
from uuid import UUID

import psycopg
from psycopg.errors import DeadlockDetected, LockNotAvailable

from executions.database.advisory_locks import AdvisoryLock
from executions.database.moving import MOVING
from executions.models import WorkflowExecution
from runners.models import Run
from runners.moving.tables import MovedTable, MoveKind, tables, workspace_of

GATE, CHANGED = "valkyr_move_gate", "valkyr_move_changed"
LOCK = AdvisoryLock.WORKSPACE_WRITES.value
TRIES = 40
DRAIN_SECONDS = 2.0
LOOK_SECONDS = 0.05
HELD = f"""
SELECT count(*) FROM {Run._meta.db_table} r JOIN {WorkflowExecution._meta.db_table} e
    ON e.id = r.execution_id
 WHERE e.workspace_id = %s AND e.finished_at IS NULL
   AND r.finished_at IS NULL AND r.state IN ('LEASED', 'RUNNING')
"""


class MoveGate(StrEnum):
    """Which writes to the workspace's rows are allowed."""

    OPEN = "open"
    DRAINING = "draining"  # nothing starts, but running steps are recorded
    CLOSED = "closed"


class StillWriting(Exception):
    """A transaction with writes to the workspace's rows did not end within the time limit."""


def install(session: psycopg.Connection[Any], workspace: UUID) -> None:
    """Install an open fence, or open the fence if it exists; writes continue."""
    session.execute(f"CREATE TABLE IF NOT EXISTS {GATE} (workspace uuid NOT NULL, mode text)")
    session.execute(f"CREATE TABLE IF NOT EXISTS {CHANGED} (execution uuid NOT NULL)")
    with session.transaction():
        session.execute(f"DELETE FROM {GATE}")
        session.execute(f"INSERT INTO {GATE} VALUES (%s, %s)", [workspace, MoveGate.OPEN.value])
    for table in tables():
        _patiently(session, list(_installing(table, workspace)))


def remove(session: psycopg.Connection[Any]) -> None:
    """Remove the fence, if there is one."""
    for table in tables():
        name = _function(table)
        _patiently(session, [f"DROP FUNCTION IF EXISTS {name}() CASCADE"])
    _patiently(session, [f"DROP TABLE IF EXISTS {GATE}, {CHANGED}"])


def installed(session: psycopg.Connection[Any]) -> UUID | None:
    """Return the ID of the workspace for which this database has a fence; None if it has none."""
    row = session.execute("SELECT to_regclass(%s) IS NOT NULL", [GATE]).fetchone()
    if not (row and row[0]):
        return None
    found = session.execute(f"SELECT workspace FROM {GATE}").fetchone()
    return found[0] if found else None


def set_gate(session: psycopg.Connection[Any], mode: MoveGate, seconds: float = 1.0) -> None:
    """Change which writes are allowed; before a restriction, wait for transactions with writes.

    Raises StillWriting after `seconds`.
    """
    try:
        with session.transaction():
            session.execute(f"SET LOCAL lock_timeout = {int(seconds * 1000)}")
            if mode is not MoveGate.OPEN:
                session.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            session.execute(f"UPDATE {GATE} SET mode = %s", [mode.value])
    except LockNotAvailable as error:
        raise StillWriting(
            f"A transaction with writes of the workspace is still open after {seconds:g} s."
        ) from error


def pause(session: psycopg.Connection[Any], workspace: UUID) -> int:
    """Close the gate once the running steps have ended, or after two seconds.

    Return how many steps were still running: their results are rejected, and they run again in the
    target. Raises StillWriting if a transaction with writes does not end.
    """
    set_gate(session, MoveGate.DRAINING)
    until = time.monotonic() + DRAIN_SECONDS
    while _held(session, workspace) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    set_gate(session, MoveGate.CLOSED)
    return _held(session, workspace)


def _held(session: psycopg.Connection[Any], workspace: UUID) -> int:
    row = session.execute(HELD, [workspace]).fetchone()
    return int(row[0]) if row else 0


def _patiently(session: psycopg.Connection[Any], statements: list[str]) -> None:
    """Run statements in a transaction; retry if the locks are not granted in time."""
    for tried in range(TRIES):
        try:
            with session.transaction():
                # Longer than deadlock_timeout (1 s by default), after which PostgreSQL cancels an
                # automatic vacuum that holds the lock.
                session.execute("SET LOCAL lock_timeout = '1500ms'")
                for one in statements:
                    session.execute(one)
            return
        except (LockNotAvailable, DeadlockDetected):
            if tried == TRIES - 1:
                raise
            time.sleep(0.5)


def _function(table: MovedTable) -> str:
    return f"valkyr_move_{table.name}"


def _installing(table: MovedTable, workspace: UUID) -> Iterator[str]:
    name = _function(table)
    yield (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql"
        f" SECURITY DEFINER SET search_path FROM CURRENT AS $body$ {_body(table, workspace)}"
        " $body$"
    )
    yield f"DROP TRIGGER IF EXISTS {name} ON {table.name}"
    yield (
        f"CREATE TRIGGER {name} BEFORE INSERT OR UPDATE OR DELETE ON {table.name}"
        f" FOR EACH ROW EXECUTE FUNCTION {name}()"
    )


def _body(table: MovedTable, workspace: UUID) -> str:
    of = workspace_of(table.model, "r")
    of_execution = table.kind is MoveKind.EXECUTION
    note = f"INSERT INTO {CHANGED} VALUES (r.{table.key});" if of_execution else ""
    raising = "TG_OP = 'INSERT'" if of_execution else "TG_OP <> 'DELETE'"
    handing_on = "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW;"
    return f"""
DECLARE r record; place uuid; gate text;
BEGIN
    IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
    place := {of};
    IF place IS DISTINCT FROM '{workspace}'::uuid THEN
        IF TG_OP = 'DELETE' AND place IS NULL THEN {note or "NULL;"} END IF;
        {handing_on}
    END IF;
    PERFORM pg_advisory_xact_lock_shared({LOCK});
    SELECT mode INTO gate FROM {GATE};
    IF gate = '{MoveGate.CLOSED}' THEN
        IF {raising} THEN {_refusal(workspace)} END IF;
        RETURN NULL;
    END IF;
    {_draining(table, workspace)}
    {note}
    {handing_on}
END"""


def _refusal(workspace: UUID) -> str:
    text = f"workspace {workspace} moves to another cell"
    return f"RAISE EXCEPTION '{text}' USING ERRCODE = '{MOVING}';"


def _draining(table: MovedTable, workspace: UUID) -> str:
    """Return the SQL that prevents new work while running steps may still be recorded.

    A run that is inserted as claimed becomes pending and due instead. The run keeps the token under
    which a worker executes it. The next claim gets another token, so the worker's result is then
    rejected.
    """
    if table.model is WorkflowExecution:
        refusal = _refusal(workspace)
        return f"IF gate = '{MoveGate.DRAINING}' AND TG_OP = 'INSERT' THEN {refusal} END IF;"
    if table.model is not Run:
        return ""
    return f"""
    IF gate = '{MoveGate.DRAINING}' AND TG_OP = 'INSERT' AND NEW.state IN ('LEASED', 'RUNNING') THEN
        NEW.state := 'PENDING'; NEW.leased_by := ''; NEW.due_at := clock_timestamp();
        NEW.lease_until := NULL; NEW.deadline_at := NULL; NEW.started_at := NULL;
    ELSIF gate = '{MoveGate.DRAINING}' AND TG_OP = 'UPDATE' AND NEW.state IN ('LEASED', 'RUNNING')
          AND NEW.lease_token <> OLD.lease_token THEN
        RETURN NULL;
    END IF;"""
