"""`manage.py import_n8n`: files and folders, a report, and unreadable files."""

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection

from executions.models import Activity, Workflow
from tests.support.workflows import default_workspace

pytestmark = pytest.mark.django_db
DATA = Path(__file__).parents[1] / "data" / "n8n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("order-webhook", "tries-until-it-works"):
        shutil.copy(DATA / f"{name}.json", tmp_path)
    return tmp_path


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("import_n8n", *arguments, stdout=out)
    return out.getvalue()


def test_a_report_measures_a_folder_and_keeps_nothing(folder: Path) -> None:
    (folder / "broken.json").write_text("{")

    told = json.loads(run(str(folder), "--report", "--json"))
    said = run(str(folder), "--report", "--top", "3")

    assert (told["files"], told["unreadable"], told["whole"]) == (2, 1, 2)
    assert (told["nodes"], told["notes"]) == ({"mapped": 8, "changed": 5, "left": 0}, 1)
    assert told["shares"]["whole"] == 100.0
    assert "2 workflows, 1 unreadable files" in said
    assert "workflows without a node left" in said
    assert not Workflow.objects.exists()


def test_a_folder_becomes_workflows_with_a_table_each_and_sums(folder: Path) -> None:
    default_workspace()
    said = run(str(folder))

    assert sorted(Workflow.objects.values_list("slug", flat=True)) == [
        "order-webhook", "tries-until-it-works",
    ]  # fmt: skip
    assert "order webhook → order-webhook" in said
    assert "changed  Tell Ann" in said
    assert "ready to publish" in said
    assert "2 to fix before publishing" in said
    assert said.splitlines()[-1] == "2 workflows; nodes: 9 mapped, 5 changed, 0 left."
    assert Activity.objects.filter(action="workflow.create").count() == 2


def test_a_dry_run_keeps_nothing(folder: Path) -> None:
    assert "2 workflows" in run(str(folder), "--dry-run")
    assert not Workflow.objects.exists()


def test_json_is_an_object_a_line(folder: Path) -> None:
    lines = [json.loads(line) for line in run(str(folder), "--dry-run", "--json").splitlines()]

    assert [one["report"]["counts"]["changed"] for one in lines] == [1, 4]
    assert [one["problems"] for one in lines] == [0, 2]


def test_a_slug_that_is_taken_gets_a_number(folder: Path) -> None:
    default_workspace()
    run(str(folder / "order-webhook.json"))
    run(str(folder / "order-webhook.json"))

    assert sorted(Workflow.objects.values_list("slug", flat=True)) == [
        "order-webhook", "order-webhook-2",
    ]  # fmt: skip


def test_what_cannot_be_read_is_named_and_the_rest_is_imported(folder: Path) -> None:
    default_workspace()
    (folder / "broken.json").write_text("{")
    (folder / "bytes.json").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(CommandError, match=r"broken\.json: this is not valid JSON") as refused:
        run(str(folder))

    assert "bytes.json" in str(refused.value)
    assert Workflow.objects.count() == 2


def test_a_file_or_workspace_that_is_not_there_is_named(folder: Path) -> None:
    default_workspace()
    with pytest.raises(CommandError, match="no-such-file does not exist"):
        run("no-such-file")
    with pytest.raises(CommandError, match="no workspace 'nowhere'"):
        run(str(folder), "--workspace", "nowhere")


def test_a_file_of_which_one_workflow_cannot_be_stored_stores_none(tmp_path: Path) -> None:
    default_workspace()
    export = json.loads((DATA / "order-webhook.json").read_text())
    (tmp_path / "two.json").write_text(json.dumps([export, {**export, "name": "Refused"}]))
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE executions_workflow ADD CONSTRAINT refused CHECK (name <> 'Refused')"
        )

    with pytest.raises((CommandError, IntegrityError)):
        run(str(tmp_path))

    assert not Workflow.objects.exists()
