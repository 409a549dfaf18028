"""Backtests from the command line, on a server."""

import json
from pathlib import Path

import yaml

from tests.cli.conftest import Valkyr
from valkyr_plugins.backtest import working
from valkyr_plugins.backtest.models import Backtest


def test_a_backtest_is_started_shown_listed_and_cancelled(valkyr: Valkyr, tmp_path: Path) -> None:
    file = tmp_path / "compared.yaml"
    tasks = [{"id": "only", "use": "flow.noop"}]
    file.write_text(yaml.dump({"schema": "valkyr/1", "name": "compared", "tasks": tasks}))
    assert valkyr("publish", file).code == 0

    made = json.loads(valkyr("backtest", "start", "compared", "--no-wait", "--json").out)
    working.work(Backtest.objects.get(pk=made["id"]).pk)

    shown = valkyr("backtest", "show", made["id"], "--wait")
    assert shown.code == 0, shown.err
    assert "0 of 0" in shown.out
    Backtest.objects.filter(pk=made["id"]).update(counts={"WOULD_CALL": 1})
    assert valkyr("backtest", "show", made["id"]).code == 2
    assert made["id"] in valkyr("backtest", "list", "compared").out
    assert "No results match." in valkyr("backtest", "results", made["id"]).err
    assert valkyr("backtest", "cancel", made["id"]).code not in (0, 2)
    both = valkyr("backtest", "start", "compared", "--version", "1", "--file", file)
    assert both.code == 1
