"""Each statement that writes a run's state ignores a row that has changed since the caller read
it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from runners.models import Run
from tests.support.segments import run_of
from tests.support.single_thread import World
from tests.support.statement_rows import (
    BESIDE,
    CLAIM,
    DUE,
    ENDED,
    HELD,
    LATE,
    LIVE,
    OVER,
    PAST,
    RESULT,
    SOON,
    Row,
    fetch_for,
    set_all,
)
from tests.support.workflows import publish, start

ASLEEP = {"state": "'WAITING'", "lease_token": "3", "waits_for": "'timer'", "started_at": PAST}
DONE = {"state": "'SUCCESS'", "lease_token": "3", "leased_by": "'me'"}
SUSPEND = {
    "kind": "timer", "facts": None, "until": None, "seconds": 5.0, "logs": None, "duration_ms": 1,
    "cost_tokens": 0, "cost_amount": 0, "token": 3, "holder": "me", "key": "",
}  # fmt: skip
RELEASE = {"token": 3, "lost": 1, "crashed": 0, "cause": "", "suspect": False, "delay": 0}
PREPARE = {
    "inputs": "{}", "inputs_hash": "", "config_hash": "", "key": "", "secret_places": "[]",
    "token": 3,
}  # fmt: skip
FINISH = {
    "state": "FAILED", "output": None, "error_message": "", "stack_trace": "", "metrics": None,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A statement's parameters, rows that it changes, and rows that it ignores."""

    given: Mapping[str, Any]
    acts: Sequence[Row]
    others: Sequence[Row] = ()  # differences to the first of those
    seen: str = "run"  # the row that shows its effect; "rows" for those it returns


def _each(column: str, *values: str) -> list[Row]:
    return [{column: value if value == "NULL" else f"'{value}'"} for value in values]


_states, _ends = partial(_each, "state"), partial(_each, "e.state")
ANOTHER: list[Row] = [{"lease_token": "4"}]
STRANGER: list[Row] = [*ANOTHER, {"leased_by": "'you'"}]
GOES_ON: list[Row] = [{"e.epoch": "7"}, {"e.state": "'PAUSED'"}, {"e.state": "'FAILED'"}]
# The columns of an execution that a user undoes.
UNDONE: Row = {"e.compensation": "'WAITING'", "e.ending": "'CANCELLED'"}
CLAIMED = [DUE, DUE | {"retry_after": PAST}, HELD | {"lease_until": PAST}]
NOT_CLAIMED: list[Row] = [
    *ANOTHER, *_states("WAITING", *OVER), {"retry_after": SOON}, *GOES_ON, {"e.place": "'FREE'"},
    HELD, {"state": "'LEASED'", "lease_until": PAST}, {"state": "'WAITING'", "lease_until": PAST},
]  # fmt: skip
FENCED: list[Row] = [
    *STRANGER, *_states("PENDING", "LEASED", "WAITING", *OVER), {"e.epoch": "7"},
    *_ends(*ENDED), *_ends("PENDING"),
]  # fmt: skip
CASES: dict[str, Case] = {
    "take_lease_from_holder": Case({"token": 3, "holder": "me", "crashed": 0, "cause": ""}, [
        DUE, HELD, ASLEEP, HELD | {"state": "'LEASED'"},
    ], [*ANOTHER, *_states(*OVER)]),
    "release": Case(RELEASE | {"patience": 30}, [HELD, DUE, HELD | {"state": "'LEASED'"}],
                    [*ANOTHER, *_states("WAITING", *OVER)]),
    "renew": Case({"tokens": [3], "details": [None], "lease": 20, "grace": 2}, [HELD],
                  [*ANOTHER, *_states("PENDING", "LEASED", "WAITING", *OVER)]),
    "postpone_suspect": Case({"delay": 5, "token": 3}, [DUE],
                             [*ANOTHER, *_states("RUNNING", *OVER)]),
    "store_remote_inputs": Case(PREPARE, [DUE], [
        *ANOTHER, *_states("RUNNING", "WAITING", *OVER), {"secret_places": "'[]'::jsonb"}]),
    "begin_recording_remote_run": Case({"token": 3}, [HELD | {"state": "'LEASED'"}, HELD], [
        *ANOTHER, *_states("PENDING", "WAITING", *OVER), {"lease_until": PAST}]),
    "mark_lost_runs_resent": Case({"patience": 30}, [DUE],
                                  _states("LEASED", "RUNNING", "WAITING", *OVER)),
    "mark_unsent": Case({}, [DUE], [
        *_states("RUNNING", "WAITING", *OVER), {"published_at": "NULL"}]),
    "suspend": Case(SUSPEND, [HELD], [*STRANGER, *_states("PENDING", "WAITING", *OVER)]),
    "wake": Case({"kinds": ["timer"], "wake": "{}", "sealed": None, "patience": 30},
                 [ASLEEP, ASLEEP | {"e.state": "'PAUSED'"}],
                 [*_states("PENDING", "RUNNING", *OVER), {"waits_for": "'event'"}, {"epoch": "7"},
                  *_ends("PENDING", *ENDED)]),
    "wake_container": Case({"progress": "{}", "wake": "{}", "patience": 30}, [ASLEEP],
                           _states("PENDING", "RUNNING", *OVER)),
    "store_counters": Case({"progress": "{}"}, [ASLEEP], _states("PENDING", "RUNNING", *OVER)),
    "log_filter_failures": Case({"messages": ["wrong"], "most": 3}, [ASLEEP],
                                _states("PENDING", "RUNNING", *OVER)),
    "supersede_body": Case({"prefix": "one"}, [DONE], [{"superseded": "true"}]),
    "claim": Case(CLAIM, CLAIMED, NOT_CLAIMED),
    "claim_without_waiting": Case(CLAIM, CLAIMED, NOT_CLAIMED),
    "record_without_new_runs": Case(RESULT, [HELD, HELD | {"e.state": "'PAUSED'"}], FENCED),
    "record": Case(RESULT, [HELD, HELD | {"e.state": "'PAUSED'"}], FENCED),
    "record_and_begin_next": Case(RESULT, [HELD], [*FENCED, *_ends("PAUSED")]),
    "record_only_step_and_end": Case(RESULT, [HELD], [
        *FENCED, *_ends("PAUSED"), UNDONE, {"attempt": "2"}]),
    "end_as_success": Case(RESULT, [
        DONE | {"o.state": "'SUCCESS'"},
        DONE | {"o.state": "'FAILED'"},
        DONE | {"o.state": "'WAITING'", "o.waits_for": "'body'"},
    ], [
        *STRANGER, *_states("FAILED", "DLQ", "CANCELLED", "SKIPPED"), *GOES_ON, UNDONE,
        *_each("o.state", *LIVE), {"o.state": "'RUNNING'", "o.waits_for": "'body'"},
    ], "execution"),
    "record_and_claim_sibling": Case(RESULT, [HELD], [
        *FENCED, *_ends("PAUSED"), {"e.place": "'FREE'"}, {"o.lease_token": "1"},
        {"o.retry_after": PAST}, *_each("o.state", "RUNNING", "WAITING", *OVER),
    ], "beside"),
    "cancel_live_runs": Case({"spared": [UUID(int=1)]}, [
        {**row, "module_id": f"'{UUID(int=1)}'"}
        for row in (DUE, ASLEEP, HELD | {"lease_until": PAST})
    ] + [HELD, HELD | {"state": "'LEASED'"}], [
        *_states(*OVER), HELD, HELD | {"state": "'LEASED'"},
    ]),
    "fence_after_restore": Case({"after": UUID(int=0), "most": 10_000, "leap": 1_000},
                                [DUE, HELD, ASLEEP], _states(*OVER, "SKIPPED")),
    "mark_pending_runs_sent": Case({"patience": 30}, [DUE, DUE | {"retry_after": PAST}], [
        *_states("RUNNING", "WAITING", *OVER), {"retry_after": SOON}]),
    "mark_due_runs_sent": Case({"patience": 30, "batch": 10_000},
                               [LATE | {"published_at": "NULL"}], [
        *_states("RUNNING", "WAITING", *OVER), {"due_at": SOON}, {"published_at": PAST}]),
    "recheck_unclaimed_runs": Case({"patience": 30, "batch": 10_000}, [LATE], [
        *_states("RUNNING", "WAITING", *OVER), {"due_at": SOON}, {"published_at": "NULL"}]),
    "executions/end_execution": Case(FINISH, [{}], _ends("PENDING", "PAUSED", *ENDED), "execution"),
    "executions/reopen": Case({}, [{"e.state": "'FAILED'"}],
                              _ends("RUNNING", "PAUSED", "SUCCESS", "CANCELLED"), "execution"),
    "executions/release_slot": Case({}, [
        {"e.state": "'RUNNING'", "e.place": "'HELD'"}, {"e.state": "'PAUSED'"},
        {"e.place": "'WANTED'"},
    ], [*_ends("PENDING", *ENDED), {"e.place": "'FREE'"}], "execution"),
    "executions/request_slot": Case({}, [{"e.place": "'FREE'"}],
                                    _each("e.place", "HELD", "WANTED"), "execution"),
    "executions/lock_candidates": Case({}, [
        {"e.state": "'PENDING'", "e.place": "'HELD'"}, {"e.place": "'WANTED'"},
        {"e.place": "'WANTED'", "e.state": "'PAUSED'"},
    ], [
        *_ends("RUNNING", "PAUSED"), {"e.state": "'FAILED'", "e.place": "'WANTED'"},
    ], "rows"),
    "executions/lock_to_reopen": Case({}, [
        {"e.state": "'FAILED'"}, {"e.state": "'PAUSED'"}, {"e.state": "'RUNNING'"},
    ], [
        {"e.compensation": "'FAILED'", "e.ending": "'FAILED'"}, {"e.place": "'FREE'"},
        *_ends("PENDING", "SUCCESS", "CANCELLED", "TIMEOUT"), {"e.concurrency_key": "'key'"},
    ], "rows"),
}  # fmt: skip
GROW = (
    "take_lease_from_holder",
    "release",
    "claim",
    "claim_without_waiting",
    "cancel_live_runs",
    "fence_after_restore",
)


@pytest.mark.parametrize("name", CASES)
def test_a_statement_refuses_a_row_that_is_not_as_it_was_seen(queue: World, name: str) -> None:
    case = CASES[name]
    execution = start(publish(BESIDE))
    for row in case.acts:
        assert _does(name, execution, case.given, row, case.seen), f"{name} does not act on {row}"
    for other in case.others:
        row = {**case.acts[0], **other}
        assert not _does(name, execution, case.given, row, case.seen), f"{name} ignores {other}"


def test_a_claim_takes_what_is_held_by_a_process_that_is_gone(queue: World) -> None:
    execution = start(publish(BESIDE))
    assert _does("claim", execution, CLAIM | {"holder_gone": True}, HELD)


@pytest.mark.parametrize(
    ("beside", "awake"),
    [
        *[({"o.state": f"'{state}'"}, True) for state in ("LEASED", "PENDING", "RUNNING")],
        *[({"o.state": f"'{state}'"}, False) for state in ("WAITING", *OVER)],
        ({"o.state": "'WAITING'", "o.waits_for": "'child'"}, True),
    ],
)
def test_a_run_that_suspends_learns_whether_another_is_awake(
    queue: World, beside: Row, awake: bool
) -> None:
    execution = start(publish(BESIDE))
    assert _answer("suspend", execution, SUSPEND, {**HELD, **beside}) == [
        (run_of(execution, "one.main").pk, awake)
    ]


SENT_LATER = {"o.published_at": "clock_timestamp()", "o.publications": "1"}
CLAIMED_LATER = {**SENT_LATER, "o.lease_token": "1"}


@pytest.mark.parametrize(
    ("beside", "overtaken"),
    [
        ({**CLAIMED_LATER, "o.state": "'RUNNING'"}, True),
        ({**CLAIMED_LATER, "o.state": "'SUCCESS'"}, True),
        ({**CLAIMED_LATER, "o.state": "'RUNNING'", "o.publications": "2"}, False),
        ({**CLAIMED_LATER, "o.state": "'RUNNING'", "o.published_at": PAST}, False),
        ({**SENT_LATER, "o.state": "'PENDING'"}, False),
        ({**SENT_LATER, "o.state": "'WAITING'"}, False),
    ],
)
def test_a_message_is_overtaken_by_one_that_a_worker_claimed(
    queue: World, beside: Row, overtaken: bool
) -> None:
    execution = start(publish(BESIDE))
    # A separate queue: other tests' runs overtake nothing in it.
    own = {"queue": "'overtaken'", "o.queue": "'overtaken'"}
    found = _answer("recheck_unclaimed_runs", execution, {"patience": 30, "batch": 10_000},
                    {**LATE, **own, **beside})  # fmt: skip
    mine = run_of(execution, "one.main").pk
    assert [row[2] for row in found if row[1] == mine] == [overtaken]


def test_what_a_paused_execution_has_to_do_is_not_overlooked(queue: World) -> None:
    execution = start(publish(BESIDE))
    given, mine = {"patience": 30, "batch": 10_000}, run_of(execution, "one.main").pk
    for state, told in (("RUNNING", True), ("PAUSED", False)):
        found = _answer(
            "recheck_unclaimed_runs", execution, given, {**LATE, "e.state": f"'{state}'"}
        )
        assert (mine in [row[1] for row in found]) is told


def _answer(
    name: str, execution: UUID, given: Mapping[str, Any], row: Row
) -> list[tuple[Any, ...]]:
    """Return the statement's answer for the row; roll its changes back."""
    with transaction.atomic():
        found = fetch_for(name, execution, *set_all(execution, row), given)
        transaction.set_rollback(True)
    return found


def _does(
    name: str, execution: UUID, given: Mapping[str, Any], row: Row, seen: str = "run"
) -> bool:
    """Return whether the statement changes the row; roll the change back."""
    with transaction.atomic():
        found = _changed(name, execution, given, row, seen)
        transaction.set_rollback(True)
    return found


def _changed(name: str, execution: UUID, given: Mapping[str, Any], row: Row, seen: str) -> bool:
    run, beside = set_all(execution, row)
    before = _versions(run, beside, execution)
    found = fetch_for(name, execution, run, beside, given)
    if seen == "rows":
        return bool(found)
    after = _versions(run, beside, execution)
    if after[seen] == before[seen]:
        return False
    grown = after["token"] - before["token"]
    assert grown >= 1 if name in GROW else grown == 0, f"{name}: the token grew by {grown}"
    return True


def _versions(run: Run, beside: Run, execution: UUID) -> dict[str, Any]:
    """Return the physical positions of the rows (an update moves them), and the run's token."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.ctid::text, o.ctid::text, e.ctid::text, r.lease_token"
            "  FROM runners_run r, runners_run o, executions_workflowexecution e"
            " WHERE r.id = %s AND o.id = %s AND e.id = %s",
            [run.pk, beside.pk, execution],
        )
        [row] = cursor.fetchall()
    return dict(zip(("run", "beside", "execution", "token"), row, strict=True))
