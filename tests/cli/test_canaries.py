"""Canary versions and rollbacks from the command line, on a server."""

import json
from pathlib import Path

import yaml

from executions.models import Workflow
from tests.cli.conftest import Valkyr


def written(folder: Path, steps: int) -> Path:
    """Write a workflow's file with this number of steps."""
    tasks = [{"id": f"step{number}", "use": "flow.noop"} for number in range(steps)]
    file = folder / "shared.yaml"
    file.write_text(yaml.dump({"schema": "valkyr/1", "name": "shared out", "tasks": tasks}))
    return file


def test_a_canary_is_published_compared_promoted_and_rolled_back(
    valkyr: Valkyr, tmp_path: Path
) -> None:
    first = valkyr("publish", written(tmp_path, 1))
    assert first.code == 0
    assert "published shared-out as version 1.\n" in first.err
    canary = ("--percent", "5", "--stop", '{"failureRate": 10, "atLeast": 50}')
    second = valkyr("publish", written(tmp_path, 2), *canary)
    assert second.code == 0
    assert "as version 2, a canary with 5 % of the new executions.\n" in second.err

    told = json.loads(valkyr("canary", "status", "shared-out", "--json").out)
    assert (told["version"], told["latestVersion"], told["percent"]) == (2, 1, 5)
    shown = valkyr("canary", "status", "shared-out")
    assert "FAILED %" in shown.out

    larger = ("--percent", "25", "--no-stop", "--promote-after", "3600")
    changed = json.loads(valkyr("canary", "change", "shared-out", *larger, "--json").out)
    assert (changed["percent"], changed["stop"]) == (25, None)
    assert changed["promoteAt"] is not None
    manual = json.loads(valkyr("canary", "change", "shared-out", "--no-promotion", "--json").out)
    assert (manual["percent"], manual["promoteAt"]) == (25, None)

    assert valkyr("canary", "promote", "shared-out", "--reason", "good").code == 0
    assert Workflow.objects.get(slug="shared-out").latest_version.number == 2  # type: ignore[union-attr]
    back = json.loads(valkyr("rollback", "shared-out", "--executions", "cancel", "--json").out)
    assert (back["version"], back["goodVersion"], back["executions"]) == (2, 1, "CANCEL")
    assert valkyr("canary", "stop", "shared-out").code != 0


def test_the_conditions_of_a_canary_need_a_share(offline: Valkyr, tmp_path: Path) -> None:
    file = written(tmp_path, 1)

    assert offline("publish", file, "--no-stop").code == 2
    assert offline("publish", file, "--promote-after", "60").code == 2
    assert offline("publish", file, "--percent", "5", "--stop", "{}", "--no-stop").code == 2


def test_a_change_of_a_canary_needs_one_that_makes_sense(offline: Valkyr) -> None:
    assert offline("canary", "change", "x").code == 2
    assert offline("canary", "change", "x", "--stop", "{}", "--no-stop").code == 2
    assert offline("canary", "change", "x", "--promote-after", "6", "--no-promotion").code == 2
