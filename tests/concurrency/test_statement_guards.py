"""Each statement that writes a run's state leaves alone a row that is not as the caller saw it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from runners import statements
from tests.support.segments import run_of
from tests.support.single_thread import World
from tests.support.workflows import effect, publish, start

SOON, PAST = "clock_timestamp() + interval '1 h'", "clock_timestamp() - interval '1 h'"
HELD = {"state": "'RUNNING'", "lease_token": "3", "leased_by": "'me'", "lease_until": SOON}
DUE = {"state": "'PENDING'", "lease_token": "3", "published_at": PAST}
ASLEEP = {"state": "'WAITING'", "lease_token": "3", "waits_for": "'timer'", "started_at": PAST}
OVER = ("SUCCESS", "FAILED", "DLQ", "CANCELLED")
CLAIM = {
    "epoch": 0, "token": 3, "holder": "me", "holder_gone": False, "lease": 20, "timeout": 20,
    "lost": 0, "crashed": 0, "cause": "", "suspect": False, "inputs": None, "inputs_hash": "",
    "config_hash": "", "key": "",
}  # fmt: skip
SUSPEND = {
    "kind": "timer", "facts": None, "until": None, "seconds": 5.0, "logs": None, "duration_ms": 1,
    "cost_tokens": 0, "cost_amount": 0, "token": 3, "holder": "me", "key": "",
}  # fmt: skip
RELEASE = {"token": 3, "lost": 1, "crashed": 0, "cause": "", "suspect": False, "delay": 0}
PREPARE = {
    "inputs": "{}", "inputs_hash": "", "config_hash": "", "key": "", "secret_places": "[]",
    "token": 3,
}  # fmt: skip


def _states(*names: str) -> list[dict[str, str]]:
    return [{"state": f"'{name}'"} for name in names]


ANOTHER = [{"lease_token": "4"}]
# Statement: its parameters, the row it is for, and how another row differs (`e.` of its execution).
CASES: dict[str, tuple[Mapping[str, Any], Mapping[str, str], list[dict[str, str]]]] = {
    "seize": ({"token": 3, "holder": "me", "crashed": 0, "cause": ""}, DUE,
              [*ANOTHER, *_states(*OVER)]),
    "release": (RELEASE | {"patience": 30}, HELD, [*ANOTHER, *_states("WAITING", *OVER)]),
    "renew": ({"tokens": [3], "details": [None], "lease": 20, "grace": 2}, HELD,
              [*ANOTHER, *_states("PENDING", "LEASED", "WAITING", *OVER)]),
    "postpone": ({"delay": 5, "token": 3}, DUE, [*ANOTHER, *_states("RUNNING", *OVER)]),
    "prepare": (PREPARE, DUE,
                [*ANOTHER, *_states("RUNNING", *OVER), {"secret_places": "'[]'::jsonb"}]),
    "hold": ({"token": 3}, HELD | {"state": "'LEASED'"},
             [*ANOTHER, *_states("PENDING", *OVER), {"lease_until": PAST}]),
    "resend": ({"patience": 30}, DUE, _states("RUNNING", "WAITING", *OVER)),
    "unsend": ({}, DUE, [*_states("RUNNING", "WAITING"), {"published_at": "NULL"}]),
    "suspend": (SUSPEND, HELD, [*ANOTHER, {"leased_by": "'you'"}, *_states("PENDING", *OVER)]),
    "wake": ({"kinds": ["timer"], "wake": "{}", "patience": 30}, ASLEEP,
             [*_states("PENDING", "RUNNING", *OVER), {"waits_for": "'event'"}, {"epoch": "7"},
              {"e.state": "'FAILED'"}, {"e.state": "'PENDING'"}]),
    "wake_container": ({"progress": "{}", "wake": "{}", "patience": 30}, ASLEEP,
                       _states("PENDING", "RUNNING", *OVER)),
    "claim": (CLAIM, DUE,
              [*ANOTHER, *_states("WAITING", *OVER), {"retry_after": SOON}, {"e.epoch": "7"},
               {"e.state": "'PAUSED'"}, {"e.state": "'FAILED'"}, {"e.place": "'FREE'"}, HELD]),
    "claim_along": (CLAIM, DUE,
                    [*ANOTHER, {"e.epoch": "7"}, {"e.state": "'PAUSED'"}, {"e.place": "'FREE'"}]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_statement_refuses_a_row_that_is_not_as_it_was_seen(queue: World, name: str) -> None:
    given, row, others = CASES[name]
    execution = start(publish({"tasks": [effect("one")]}))
    assert _does(name, execution, given, row)
    for other in others:
        assert not _does(name, execution, given, {**row, **other}), f"{name} minds no {other}"


@pytest.mark.parametrize(
    ("row", "gone"),
    [
        (DUE | {"retry_after": PAST}, False),
        (HELD | {"lease_until": PAST}, False),
        (HELD, True),
    ],
)
def test_a_claim_takes_what_is_due_or_held_by_nobody(
    queue: World, row: Mapping[str, str], gone: bool
) -> None:
    execution = start(publish({"tasks": [effect("one")]}))
    assert _does("claim", execution, CLAIM | {"holder_gone": gone}, row)


def _does(name: str, execution: UUID, given: Mapping[str, Any], row: Mapping[str, str]) -> bool:
    """Whether the statement takes the row, which stays as it was."""
    run = run_of(execution, "one.main")
    asked = {
        "run": run.pk, "runs": [run.pk], "execution": execution, "executions": [execution],
        "segments": [run.segment], **given,
    }  # fmt: skip
    row = _whole(row)
    with transaction.atomic():
        _set("runners_run", run.pk, {k: v for k, v in row.items() if not k.startswith("e.")})
        _set("executions_workflowexecution", execution,
             {k[2:]: v for k, v in row.items() if k.startswith("e.")})  # fmt: skip
        found = statements.fetch(name, asked)
        transaction.set_rollback(True)
    return bool(found)


def _set(table: str, row: UUID, values: Mapping[str, str]) -> None:
    if values:
        changes = ", ".join(f"{column} = {value}" for column, value in values.items())
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET {changes} WHERE id = %s", [row])


def _whole(row: Mapping[str, str]) -> dict[str, str]:
    """With what the table's constraints want of such a state."""
    if row.get("e.state") == "'FAILED'":
        row = {**row, "e.finished_at": PAST}
    state = row["state"].strip("'")
    if state in OVER:
        return {**row, "finished_at": PAST}
    if state in {"RUNNING", "LEASED"}:
        return {"leased_by": "'me'", "lease_until": SOON, **row}
    return {"waits_for": "'timer'", **row} if state == "WAITING" else dict(row)
