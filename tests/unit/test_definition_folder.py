"""A folder of definitions: the positions of errors, and comments that are kept."""

from pathlib import Path
from typing import Any

import pytest

from valkyr.cli.commands.promoting import called_by
from valkyr.cli.errors import CliError
from valkyr.cli.folder import is_folder, line_of, read_folder, with_credentials, write_folder
from valkyr.cli.repository import commit_of, without_password

SHIP = """\
# Ships orders.
schema: valkyr/1
name: Ship orders
tasks:
  - id: pack
    use: flow.noop
  - id: send
    use: http.request
    with:
      url: https://a.example
      headers: {X-Name: "a"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "workflows" / "shop").mkdir(parents=True)
    (tmp_path / "valkyr.yaml").write_text("schema: valkyr-bundle/1\nworkspace: staging\n")
    (tmp_path / "workflows" / "shop" / "ship.yaml").write_text(SHIP)
    (tmp_path / "budgets.yaml").write_text("- amount: 5\n  currency: EUR\n- amount: x\n")
    (tmp_path / "README.md").write_text("not a definition")
    return tmp_path


def test_a_folder_is_read_as_a_bundle(folder: Path) -> None:
    found = read_folder(folder)

    assert found.workspace == "staging"
    assert list(found.workflows) == ["ship"]
    assert found.workflows["ship"]["name"] == "Ship orders"
    assert found.resources == {"budgets": [{"amount": 5, "currency": "EUR"}, {"amount": "x"}]}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("workflows.ship", 2),
        ("workflows.ship.name", 3),
        ("workflows.ship.tasks[1].with.url", 10),
        ('workflows.ship.tasks[1].with.headers["X-Name"]', 11),
        ("workflows.ship.tasks[1].with.missing", 9),
        ("workflows.ship.tasks[7]", 4),
    ],
)
def test_a_problem_has_a_file_and_a_line(folder: Path, path: str, line: int) -> None:
    assert read_folder(folder).place(path) == f"{folder}/workflows/shop/ship.yaml:{line}"


def test_a_problem_of_an_item_has_its_line(folder: Path) -> None:
    found = read_folder(folder)

    assert found.place("resources.budgets[1].amount") == f"{folder}/budgets.yaml:3"
    assert found.place("resources.quotas") == str(folder)


def test_every_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "workflows" / "torn.yaml").write_text("name: a\ntasks: [\n")
    (folder / "workflows" / "ship.json").write_text("{}")
    (folder / "quotas.yaml").write_text("maxPerDay: 5\n")

    with pytest.raises(CliError) as raised:
        read_folder(folder)

    paths = [one["path"].removeprefix(f"{folder}/") for one in raised.value.problems]
    assert paths == ["quotas.yaml:1", "workflows/shop/ship.yaml:1", "workflows/torn.yaml:3"]


@pytest.mark.parametrize("text", ["schema: other", "schema: valkyr-bundle/1\nworkspce: a"])
def test_a_wrong_mark_is_refused(folder: Path, text: str) -> None:
    (folder / "valkyr.yaml").write_text(text)

    with pytest.raises(CliError, match="1 problem"):
        read_folder(folder)


def test_any_other_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(CliError):
            read_folder(path)


def exported(**workflows: Any) -> dict[str, Any]:
    return {"workspace": "staging", "workflows": workflows, "resources": {}}


def test_an_equal_file_keeps_its_comments_and_its_place(folder: Path) -> None:
    same = read_folder(folder).workflows["ship"]

    written, gone = write_folder(folder, exported(ship=same), prune=False)

    assert (written, gone) == ([], [])
    assert (folder / "workflows" / "shop" / "ship.yaml").read_text() == SHIP


def test_a_changed_workflow_is_written_where_it_was_and_a_new_one_at_the_top(folder: Path) -> None:
    ship = {"schema": "valkyr/1", "name": "Other", "tasks": []}

    written, _ = write_folder(folder, exported(ship=ship, pack=ship), prune=False)

    names = [str(path.relative_to(folder)) for path in written]
    assert names == ["workflows/shop/ship.yaml", "workflows/pack.yaml"]
    assert read_folder(folder).workflows == {"ship": ship, "pack": ship}


def test_files_of_workflows_that_are_gone_are_removed_if_asked(folder: Path) -> None:
    kept = write_folder(folder, exported(), prune=False)[1]
    gone = write_folder(folder, exported(), prune=True)[1]

    assert kept == []
    assert [path.name for path in gone] == ["ship.yaml"]


def test_a_new_folder_gets_its_mark(tmp_path: Path) -> None:
    new = tmp_path / "new"

    write_folder(
        new, exported() | {"resources": {"quotas": [{"maxPerDay": 5}], "budgets": []}}, prune=False
    )

    assert read_folder(new).workspace == "staging"
    assert read_folder(new).resources == {"quotas": [{"maxPerDay": 5}]}


def test_an_alert_rule_keeps_the_credential_that_its_file_names() -> None:
    items = [{"name": "Ops", "channel": "SLACK"}, {"name": "New"}]
    old = [{"name": "Ops", "credential": "ops"}, {"name": "Old", "credential": "x"}]

    assert with_credentials(items, old) == [{**items[0], "credential": "ops"}, {"name": "New"}]


@pytest.mark.parametrize(
    ("word", "expected"),
    [(".", True), ("./flows", True), ("flows/", True), ("orders", False), ("Order import", False)],
)
def test_a_folder_is_told_from_the_name_of_a_workflow(word: str, expected: bool) -> None:
    assert is_folder(word) is expected


def test_a_text_without_the_path_has_its_first_line() -> None:
    assert line_of("", ".a") == 1
    assert line_of("[", ".a") == 1
    assert line_of("a: 1\nb: 2", ".c") == 1


def test_the_commit_comes_from_the_ci_system() -> None:
    github = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "shop/flows",
        "GITHUB_SHA": "abc",
        "GITHUB_REF_NAME": "main",
    }
    gitlab = {
        "CI_PROJECT_URL": "https://ci:token@git.example/shop",
        "CI_COMMIT_SHA": "def",
        "CI_COMMIT_REF_NAME": "v1",
    }

    assert commit_of(Path(), github)["repository"] == "https://github.com/shop/flows"
    assert commit_of(Path(), gitlab) == {
        "repository": "https://git.example/shop",
        "commit": "def",
        "ref": "v1",
    }


def test_a_folder_outside_of_git_has_no_commit(tmp_path: Path) -> None:
    assert commit_of(tmp_path, {}) == {"repository": "", "commit": "", "ref": ""}


def test_no_password_is_sent() -> None:
    assert without_password("https://ann:secret@git.example/a") == "https://git.example/a"
    assert without_password("git@git.example:a.git") == "git@git.example:a.git"


def test_the_called_workflows_are_found_in_bodies_and_after_failures() -> None:
    call = {"use": "flow.subworkflow", "with": {"workflow": "ship"}}
    pack = {**call, "with": {"workflow": "pack"}}
    document = {
        "settings": {"onFailure": {"workflow": "tell"}},
        "tasks": [
            {"id": "a", **call},
            {"id": "b", "use": "flow.map", "body": {"tasks": [{"id": "c", "modules": [pack]}]}},
            {"id": "d", "use": "flow.subworkflow", "with": {"workflow": "{{ input.name }}"}},
        ],
    }  # fmt: skip

    assert called_by(document) == ["tell", "ship", "pack"]
