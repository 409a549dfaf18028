"""`valkyr plan` and `valkyr apply`: the changes of a publication, and the workflows that the code
no longer has.
"""

import json
from typing import Any

import pytest

from executions.models import WorkflowVersion
from executions.publishing.from_code import publish_from_code
from executions.publishing.versioning import create_workflow
from tests.plugins.python_workflows import flows
from tests.support.workflows import ACTOR, default_workspace
from valkyr.cli.main import main
from valkyr_plugins.python_workflows import changes, publishing

pytestmark = pytest.mark.django_db
GONE = {"schema": "valkyr/1", "name": "Gone", "tasks": [{"id": "a", "use": "flow.noop"}]}


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the workflows of these tests the declared ones."""
    monkeypatch.setattr(publishing, "DECLARED", flows.DECLARED)
    monkeypatch.setattr(changes, "DECLARED", flows.DECLARED)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the command's report per workflow, by slug: its change and its version."""
    assert main([*words, "--local", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    return {row["slug"]: (row["change"], row["version"]) for row in rows}


def test_a_plan_says_what_would_change_and_writes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fulfil = flows.fulfil
    publishing.publish(flows.careful)
    publish_from_code("fulfil", GONE, origin=fulfil.origin, line=fulfil.line)
    publish_from_code("gone", GONE, origin="shop.flows:gone", line=3)
    publish_from_code("a-canvas", GONE, origin="celery canvas")
    before = WorkflowVersion.objects.count()

    planned = told(capsys, "plan")

    assert planned["careful"] == ("unchanged", 1)
    assert planned["fulfil"] == ("changed", 1)
    assert planned["sorted-by-country"] == ("created", None)
    assert planned["gone"] == ("removed", 1)
    assert "a-canvas" not in planned
    assert told(capsys, "apply", "--dry-run") == planned
    assert WorkflowVersion.objects.count() == before


def test_apply_publishes_and_a_second_one_finds_everything_unchanged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = told(capsys, "apply")
    second = told(capsys, "apply")

    assert set(first.values()) == {("created", 1)}
    assert set(second.values()) == {("unchanged", 1)}
    assert main(["plan", "--local", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_what_cannot_be_published_is_told_before_anything_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    create_workflow(default_workspace(), name="F", slug="fulfil", definition=GONE, actor=ACTOR)

    assert main(["plan", "--local"]) == 6
    assert main(["apply", "--local"]) == 6
    assert main(["apply"]) == 2

    assert "belongs to a person" in capsys.readouterr().err
    assert not WorkflowVersion.objects.exists()
