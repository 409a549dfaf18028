"""Rows for a statement of `runners/sql` or `executions/sql`, and a call of that statement."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import connection

from executions.database import statements as of_executions
from executions.database.ids import uuid7
from runners import statements as of_runners
from runners.models import Run
from tests.support.segments import run_of
from tests.support.workflows import effect

Row = Mapping[str, str]
SOON, PAST = "clock_timestamp() + interval '1 h'", "clock_timestamp() - interval '1 h'"
HELD = {"state": "'RUNNING'", "lease_token": "3", "leased_by": "'me'", "lease_until": SOON}
DUE = {"state": "'PENDING'", "lease_token": "3", "published_at": PAST}
CLAIM = {
    "epoch": 0, "token": 3, "holder": "me", "holder_gone": False, "lease": 20, "timeout": 20,
    "lost": 0, "crashed": 0, "cause": "", "suspect": False, "inputs": None, "inputs_hash": "",
    "config_hash": "", "key": "",
}  # fmt: skip
RESULT = {
    "epoch": 0, "token": 3, "holder": "me", "state": "SUCCESS", "outcome": "success",
    "outputs": "1", "output": "1", "error": "", "error_type": "", "error_details": None,
    "logs": None, "duration_ms": 1, "cost_tokens": 0, "cost_amount": 0, "cached_from": None,
    "survey": False, "lease": 20, "timeout": 20, "patience": 30, "rows": "[]", "inputs": None,
    "inputs_hash": "", "config_hash": "", "key": "", "segment": "next.main", "path": "next.main",
    "task": UUID(int=2), "module_id": UUID(int=3), "module": "test.effect", "queue": "default",
}  # fmt: skip
LATE = DUE | {"due_at": PAST}
LIVE, OVER = ("PENDING", "LEASED", "RUNNING", "WAITING"), ("SUCCESS", "FAILED", "DLQ", "CANCELLED")
ENDED = ("SUCCESS", "FAILED", "CANCELLED", "TIMEOUT")
BESIDE = {"tasks": [effect("one"), effect("two")]}


def fetch_for(
    name: str, execution: UUID, run: Run, beside: Run, given: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Run the statement for these rows; the name of an `executions` statement begins with
    `executions/`.
    """
    asked = {
        "run": run.pk, "runs": [run.pk], "execution": execution, "executions": [execution],
        "ids": [execution], "segments": [run.segment], **given,
        "next": beside.pk if name == "record_and_claim_sibling" else uuid7(),
    }  # fmt: skip
    room = of_executions if name.startswith("executions/") else of_runners
    return room.fetch(name.removeprefix("executions/"), asked)


def set_all(execution: UUID, row: Row) -> tuple[Run, Run]:
    """Set the columns of a row; return the run and its sibling.

    Names without a prefix are columns of the run of step `one`; names with `e.` are columns of its
    execution, and with `o.` of the run of step `two`.
    """
    run, beside = run_of(execution, "one.main"), run_of(execution, "two.main")
    own = {column: value for column, value in row.items() if column[1] != "."}
    _set("runners_run", run.pk, _whole_run(own))
    _set("runners_run", beside.pk, _whole_run(_of("o.", row)))
    _set("executions_workflowexecution", execution, _whole_execution(_of("e.", row)))
    return run, beside


def _of(prefix: str, row: Row) -> Row:
    return {k.removeprefix(prefix): v for k, v in row.items() if k.startswith(prefix)}


def _set(table: str, row: Any, values: Row) -> None:
    if values:
        changes = ", ".join(f"{column} = {value}" for column, value in values.items())
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET {changes} WHERE id = %s", [row])


def _whole_execution(row: Row) -> Row:
    """Add the columns that the table's constraints require in this state."""
    return {**row, "finished_at": PAST} if row.get("state", "").strip("'") in ENDED else row


def _whole_run(row: Row) -> Row:
    """Add the columns that the table's constraints require in this state."""
    state = row.get("state", "").strip("'")
    if state in {*OVER, "SKIPPED"}:
        return {**row, "finished_at": PAST}
    if state in {"RUNNING", "LEASED"}:
        held = {"leased_by": "'me'", "lease_until": SOON, "lease_token": "3"}
        return {**held, **row}
    return {"waits_for": "'timer'", **row} if state == "WAITING" else row
