"""The diagrams in docs/reference/states.md and the code's move tables are the same machines."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from dlq.groups import rules as group_rules
from executions import states as execution_states
from runners import states as run_states
from valkyr_plugins.alerts import models as alert_states
from valkyr_plugins.backtest import models as backtest_states
from valkyr_plugins.canary import models as canary_states
from valkyr_plugins.circuits import breaker
from valkyr_plugins.mcp import models as proposal_states
from valkyr_plugins.redrive import models as redrive_states
from valkyr_plugins.version_migration import models as migration_states

DRAWINGS = Path(__file__).parents[2] / "docs" / "reference" / "states.md"
DRAWN = [
    ("An execution", execution_states.MOVES),
    ("A compensation", execution_states.COMPENSATION_MOVES),
    ("A run", run_states.MOVES),
    ("A circuit", breaker.MOVES),
    ("A redrive", redrive_states.MOVES),
    ("A proposal", proposal_states.MOVES),
    ("A canary", canary_states.MOVES),
    ("A migration of executions", migration_states.MOVES),
    ("A backtest", backtest_states.MOVES),
    ("A failure group", group_rules.MOVES),
    ("An alert", alert_states.ALERT_MOVES),
    ("An alert's message", alert_states.MESSAGE_MOVES),
]
ARROW = re.compile(r"^\s*(\w+|\[\*\]) --> (\w+): \S", re.MULTILINE)
ROW = re.compile(r"^\| ([A-Z_]+) \|", re.MULTILINE)


def section(heading: str) -> str:
    text = DRAWINGS.read_text()
    start = text.index(f"## {heading}\n")
    end = text.find("\n## ", start + 1)
    return text[start : end if end > 0 else None]


def drawn(heading: str) -> dict[str, set[str]]:
    moves: dict[str, set[str]] = {}
    for source, target in ARROW.findall(section(heading)):
        if source != "[*]":
            moves.setdefault(source, set()).add(target)
    return moves


def coded(moves: Mapping[str, frozenset[str]]) -> dict[str, set[str]]:
    return {str(source): set(map(str, targets)) for source, targets in moves.items() if targets}


@pytest.mark.parametrize(
    ("heading", "moves"),
    DRAWN,
)
def test_the_drawing_has_exactly_the_moves_of_the_code(
    heading: str, moves: Mapping[str, frozenset[str]]
) -> None:
    assert drawn(heading) == coded(moves)


@pytest.mark.parametrize(
    ("heading", "moves"),
    DRAWN,
)
def test_the_table_explains_every_state(heading: str, moves: Mapping[str, frozenset[str]]) -> None:
    assert sorted(ROW.findall(section(heading))) == sorted(map(str, moves))


def test_a_final_run_is_never_left() -> None:
    assert all(not run_states.MOVES[state] for state in run_states.FINAL)


def test_only_failed_of_the_final_executions_can_be_left() -> None:
    left = {state for state in execution_states.FINAL if execution_states.MOVES[state]}

    assert left == {execution_states.ExecutionState.FAILED}


def test_live_and_final_runs_are_all_there_is() -> None:
    assert set(run_states.RunState) == run_states.LIVE | run_states.FINAL
    assert not run_states.LIVE & run_states.FINAL
