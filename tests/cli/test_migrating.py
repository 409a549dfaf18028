"""Migrations of live executions from the command line, on a server."""

import json
from pathlib import Path

import yaml

from tests.cli.conftest import Valkyr
from valkyr_plugins.version_migration.models import ExecutionMigration

REST = {"use": "flow.delay", "with": {"seconds": 86_400}}


def written(folder: Path, step: str) -> Path:
    """Write a workflow's file whose step waits for a day."""
    file = folder / "resting.yaml"
    tasks = [{"id": step, **REST}]
    file.write_text(yaml.dump({"schema": "valkyr/1", "name": "resting", "tasks": tasks}))
    return file


def test_executions_are_planned_previewed_started_and_cancelled(
    valkyr: Valkyr, tmp_path: Path
) -> None:
    assert valkyr("publish", written(tmp_path, "rest")).code == 0
    for _ in range(3):
        assert valkyr("start", "resting").code == 0
    assert valkyr("publish", written(tmp_path, "pause")).code == 0

    unmapped = valkyr("migrate-executions", "plan", "resting", "--from", "1")
    assert unmapped.code == 0
    renamed = ("--step", "rest=pause", "--rate", "0.01")  # so slow that it runs until cancelled
    made = valkyr("migrate-executions", "plan", "resting", "--from", "1", *renamed, "--json")

    told = json.loads(made.out)
    assert (told["fromVersion"], told["toVersion"], told["total"]) == (1, 2, 3)
    assert sum(group["count"] for group in told["preview"]["groups"]) == 3
    shown = valkyr("migrate-executions", "preview", told["id"])
    assert "GO ON AT" in shown.out
    started = json.loads(valkyr("migrate-executions", "start", told["id"], "--json").out)
    assert started["state"] == "RUNNING"
    assert valkyr("migrate-executions", "results", told["id"]).code == 0
    assert valkyr("migrate-executions", "pause", told["id"]).code == 0
    assert valkyr("migrate-executions", "resume", told["id"]).code == 0
    done = json.loads(valkyr("migrate-executions", "cancel", told["id"], "--json").out)
    assert done["state"] == "CANCELLED"
    assert valkyr("migrate-executions", "start", told["id"]).code != 0
    assert told["id"] in valkyr("migrate-executions", "list").out
    assert ExecutionMigration.objects.count() == 2


def test_a_step_needs_both_names(offline: Valkyr) -> None:
    done = offline("migrate-executions", "plan", "resting", "--from", "1", "--step", "rest")

    assert done.code == 2
    assert "expected OLD=NEW" in done.err
