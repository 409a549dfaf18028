"""The statements that write a run's state make exactly the moves of `runners.states.MOVES`."""

import re
from itertools import product
from pathlib import Path

import pytest

from runners.states import LIVE, MOVES, RunState

PROJECT = Path(__file__).parents[2]
FOLDERS = ("runners/sql", "valkyr_plugins/remote/sql", "valkyr_plugins/timetravel/sql")
UPDATE = re.compile(
    r"UPDATE runners_run\b(.*?)(?=RETURNING|\n\)|UPDATE |INSERT INTO|\Z)", re.DOTALL
)
STATE = r"(?:(?<=\br\.)|(?<![.\w]))state"
GUARD = re.compile(STATE + r" (?:= '(\w+)'|IN \(([^)]*)\))")
SET = re.compile(
    r"(?<!WHEN )"
    + STATE
    + r" = (?:'(\w+)'|CASE WHEN r\.finished_at IS NULL THEN '(\w+)'|%\(state\)s)"
)
# The recorded state of a result, which the code passes as a parameter.
RECORDED = {RunState.SUCCESS, RunState.FAILED, RunState.DLQ}
# Guarded elsewhere than in the WHERE of the update: by the rows selected before it, or because they
# have no end yet.
GUARDED_ELSEWHERE = {"lease_reserved_runs": {RunState.PENDING}, "supersede_after_point": LIVE}
# Takes a run to end it in the same transaction; no other transaction sees it RUNNING.
SEIZING = "take_lease_from_holder"


def writes() -> dict[str, tuple[set[str], set[str]]]:
    """Return the states from which and to which each statement moves runs."""
    found = {}
    for file in sorted(file for folder in FOLDERS for file in (PROJECT / folder).rglob("*.sql")):
        text = "\n".join(
            line for line in file.read_text().splitlines() if not line.lstrip().startswith("--")
        )
        for update in UPDATE.findall(text):
            settings, _, condition = update.partition("WHERE")
            set_to = SET.search(settings)
            if set_to is not None:
                target = set_to[1] or set_to[2]
                sources = GUARDED_ELSEWHERE.get(file.stem) or guarded(condition)
                found[file.stem] = (set(sources), {target} if target else set(RECORDED))
    return found


def guarded(condition: str) -> set[str]:
    """Return the states that a WHERE condition names."""
    names = ", ".join(f"'{one}'" if one else several for one, several in GUARD.findall(condition))
    return set(re.findall(r"'(\w+)'", names))


def test_every_statement_that_writes_states_is_read() -> None:
    assert sorted(writes()) == [
        "begin_recording_remote_run", "cancel_live_runs", "claim_run", "fenced", "heartbeat",
        "lease_reserved_runs", "record_and_begin_next", "record_and_claim_sibling",
        "record_only_step_and_end", "release", "supersede_after_point", "suspend",
        "take_lease_from_holder", "wake", "wake_container",
    ]  # fmt: skip


@pytest.mark.parametrize("statement", sorted(writes()))
def test_a_statement_names_the_states_it_takes_runs_from(statement: str) -> None:
    sources, targets = writes()[statement]

    assert sources, f"{statement}.sql sets a state whatever the run's is"
    assert sources <= LIVE
    assert targets <= set(RunState)


@pytest.mark.parametrize("statement", sorted(set(writes()) - {SEIZING}))
def test_a_statement_makes_no_move_that_is_not_drawn(statement: str) -> None:
    made = {
        (source, target) for source, target in product(*writes()[statement]) if source != target
    }

    assert made <= drawn(), f"{statement}.sql makes moves that runners/states.py does not have"


def test_a_run_that_is_seized_may_die_in_any_state() -> None:
    sources, _ = writes()[SEIZING]

    assert sources == LIVE
    assert all(RunState.DLQ in MOVES[source] for source in sources)


def test_every_move_that_is_drawn_is_made_by_a_statement() -> None:
    made = {move for sources, targets in writes().values() for move in product(sources, targets)}
    ended = set(product(writes()[SEIZING][0], RECORDED))

    assert drawn() <= made | ended


def drawn() -> set[tuple[str, str]]:
    return {(source, target) for source, targets in MOVES.items() for target in targets}
