"""Helpers for backtests of workflows that ran to their end in the testing kit."""

from collections.abc import Mapping
from typing import Any

from runners.testing.workflow_run import WorkflowRun
from tests.support.workflows import ACTOR
from valkyr_plugins.backtest import lifecycle, working
from valkyr_plugins.backtest.groups import text_of
from valkyr_plugins.backtest.lifecycle import BacktestWish
from valkyr_plugins.backtest.models import Backtest


def compared(run: WorkflowRun, definition: Mapping[str, Any] | None = None) -> Backtest:
    """Compare the executions of a workflow with its draft, or with another definition."""
    wish = BacktestWish(selection={}, definition=definition)
    made = lifecycle.create(run.execution.workflow_id, wish, actor=ACTOR)
    while working.work(made.pk):
        pass
    made.refresh_from_db()
    return made


def texts(made: Backtest) -> list[str]:
    """Return the groups of a backtest as sentences."""
    return [text_of(group) for group in made.groups["groups"]]
