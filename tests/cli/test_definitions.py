"""Workflow files: checked over the API, or with only the project's settings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from executions.models import Workflow
from tests.cli.conftest import Valkyr
from tests.support import nursery

GOOD = {"schema": "valkyr/1", "name": "good", "tasks": [{"id": "a", "use": "flow.noop"}]}
BAD = {"schema": "valkyr/1", "name": "bad", "tasks": [{"id": "a", "use": "no.such"}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "good.yaml").write_text(yaml.dump(GOOD))
    (tmp_path / "flows" / "bad.json").write_text(json.dumps(BAD))
    (tmp_path / "flows" / "torn.yaml").write_text("tasks: [")
    (tmp_path / "flows" / "README.md").write_text("no workflow")
    return tmp_path / "flows"


def without_a_database(*words: object) -> "subprocess.CompletedProcess[str]":
    """Run `valkyr --local` without a database and without Redis."""
    nowhere = {"DATABASE_URL": "postgres://n@127.0.0.1:1/n", "REDIS_URL": "redis://127.0.0.1:1/0"}
    command = [sys.executable, "-m", "valkyr", "--local", *map(str, words)]
    return nursery.run(command, environment=os.environ | nowhere)


def verdicts(text: str) -> dict[str, bool]:
    return {Path(one["file"]).name: one["valid"] for one in json.loads(text)}


def test_validate_tells_of_each_file_over_the_api(valkyr: Valkyr, folder: Path) -> None:
    said, told = valkyr("validate", folder), valkyr("validate", folder, "--json")

    assert said.code == told.code == 1
    assert "no.such" in said.out
    assert "1 of 3 files are valid." in said.err
    assert verdicts(told.out) == {"good.yaml": True, "bad.json": False, "torn.yaml": False}
    assert valkyr("validate", folder / "good.yaml").code == 0


def test_validate_needs_neither_server_nor_database_locally(folder: Path) -> None:
    said = without_a_database("validate", folder, "--json")

    assert said.returncode == 1, said.stderr
    assert verdicts(said.stdout) == {"good.yaml": True, "bad.json": False, "torn.yaml": False}


def test_what_both_ways_find_is_the_same(valkyr: Valkyr, folder: Path) -> None:
    here = json.loads(without_a_database("validate", folder, "--json").stdout)

    assert json.loads(valkyr("validate", folder, "--json").out) == here


def test_a_missing_file_is_a_mistake_of_the_caller(offline: Valkyr, tmp_path: Path) -> None:
    assert offline("validate", tmp_path / "none.yaml").code == 2
    assert offline("validate", tmp_path).code == 2


def test_what_is_exported_validates_and_is_the_draft(
    valkyr: Valkyr, echo: Workflow, failing: Workflow, tmp_path: Path
) -> None:
    printed = valkyr("export", echo.slug)
    written = valkyr("export", echo.slug, failing.slug, "--dir", tmp_path, "--format", "json")

    assert yaml.safe_load(printed.out) == echo.definition
    files = written.out.split()
    assert [json.loads(Path(f).read_text()) for f in files] == [echo.definition, failing.definition]
    assert valkyr("export", echo.slug, failing.slug).code == 2


def test_a_draft_is_exported_as_python(valkyr: Valkyr, echo: Workflow, tmp_path: Path) -> None:
    printed = valkyr("export", echo.slug, "--python")
    written = valkyr("export", echo.slug, "--python", "--dir", tmp_path)

    assert "from valkyr import" in printed.out
    assert Path(written.out.strip()).name == f"{echo.slug.replace('-', '_')}.py"
    assert Path(written.out.strip()).read_text() == printed.out


def test_schema_is_the_same_from_the_package_and_from_the_api(valkyr: Valkyr) -> None:
    there = valkyr("schema")
    here = without_a_database("schema")

    assert there.code == here.returncode == 0
    assert json.loads(there.out) == json.loads(here.stdout)
    assert json.loads(there.out)["$schema"].startswith("https://json-schema.org/")


def test_workflows_are_listed_by_how_their_names_begin(valkyr: Valkyr, echo: Workflow) -> None:
    found = valkyr("workflows", "echo", "--json")

    assert [row["id"] for row in json.loads(found.out)] == [str(echo.pk)]


def test_a_folder_is_published_again_without_the_unchanged_workflows(
    valkyr: Valkyr, folder: Path
) -> None:
    (folder / "bad.json").unlink()
    (folder / "torn.yaml").unlink()
    (folder / "later.yaml").write_text(yaml.dump({**GOOD, "name": "later"}))
    first = valkyr("publish", folder, "--json")
    assert first.code == 0, first.err
    (folder / "later.yaml").write_text(yaml.dump({**GOOD, "name": "later", "output": 1}))

    again = valkyr("publish", folder, "--json")

    assert again.code == 0, again.err
    told = [(one["slug"], one["unchanged"]) for one in json.loads(again.out)]
    assert told == [("good", True), ("later", False)]
    assert Workflow.objects.get(slug="later").versions.count() == 2
    assert "good has not changed" in valkyr("publish", folder / "good.yaml").err
