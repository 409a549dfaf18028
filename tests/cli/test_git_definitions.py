"""Definitions in Git: `export`, `plan` and `apply` of a folder, and `promote`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from executions import credentials
from executions.access.actor import Actor
from executions.accounts.tokens import create_token
from executions.definition.graph.document import load_text
from executions.models import AppliedBundle, Membership, Tier, Workflow, Workspace
from executions.publishing import versioning
from tests.cli.conftest import Installation, Valkyr
from tests.support.stack import PROJECT
from tests.support.workflows import ACTOR

EXAMPLES = sorted(
    folder
    for folder in (PROJECT / "examples").iterdir()
    if any("schema: valkyr/" in file.read_text() for file in folder.rglob("*.yaml"))
)
SHIP = """\
# Ships orders.
schema: valkyr/1
name: Ship orders
tasks:
  - id: pack
    use: flow.noop
"""


class Environments:
    """Two workspaces, `staging` and `production`, with a token of their administrator in each."""

    def __init__(self, valkyr: Valkyr, installation: Installation, config: Path) -> None:
        ann = get_user_model().objects.get(username="ann")
        tier, _ = Tier.objects.get_or_create(name="unlimited")
        lines, self.workspaces = [], dict[str, Workspace]()
        for name in ("staging", "production"):
            number = Workspace.objects.count()
            workspace = Workspace.objects.create(slug=f"{name}-{number}", name=name, tier=tier)
            Membership.objects.create(user=ann, workspace=workspace, role="ADMIN")
            _, token = create_token(workspace, ann, name=name, maker=ann, actor=Actor.of(ann))[:2]
            lines += [f"[profiles.{name}]", f'url = "{installation.url}"', f'token = "{token}"']
            self.workspaces[name] = workspace
        config.write_text("\n".join(lines) + "\n")
        valkyr.environment.delenv("VALKYR_URL")
        valkyr.environment.delenv("VALKYR_TOKEN")
        for name in ("GITHUB_SHA", "CI_COMMIT_SHA"):
            valkyr.environment.delenv(name, raising=False)
        self._valkyr = valkyr

    def __call__(self, *words: object, where: str = "staging") -> Any:
        return self._valkyr(*words, "--profile", where)

    def __getitem__(self, name: str) -> Workspace:
        return self.workspaces[name]


@pytest.fixture
def valkyr_in(valkyr: Valkyr, installation: Installation, tmp_path: Path) -> Iterator[Environments]:
    made = Environments(valkyr, installation, tmp_path / "config.toml")
    yield made
    Membership.objects.filter(workspace__in=made.workspaces.values()).delete()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "definitions"
    (path / "workflows").mkdir(parents=True)
    (path / "workflows" / "ship.yaml").write_text(SHIP)
    (path / "quotas.yaml").write_text("- maxPerDay: 500\n")
    return path


def test_a_folder_is_planned_and_applied_and_then_has_no_changes(
    valkyr_in: Environments, folder: Path
) -> None:
    planned = valkyr_in("plan", folder)
    applied = valkyr_in("apply", folder, "--commit", "abc123")
    again = valkyr_in("plan", folder)

    assert planned.code == 2, planned.err
    assert "+ workflow ship (new)\n    + task pack (flow.noop)\n" in planned.out
    assert "+ quota executions (new)\n" in planned.out
    assert "Plan: 2 to create, 0 to change, 0 to remove; 0 unchanged." in planned.out
    assert applied.code == 0, applied.err
    assert (again.code, again.out) == (0, "No changes. 2 objects are up to date.\n")
    assert AppliedBundle.objects.get(workspace=valkyr_in["staging"]).commit == "abc123"


def test_a_change_is_shown_in_words_and_only_by_its_sign_with_quiet(
    valkyr_in: Environments, folder: Path
) -> None:
    valkyr_in("apply", folder)
    file = folder / "workflows" / "ship.yaml"
    file.write_text(SHIP.replace("flow.noop", "data.set") + "    with: {values: {a: 1}}\n")

    planned = valkyr_in("plan", folder)
    quiet = valkyr_in("plan", folder, "--quiet")
    told = json.loads(valkyr_in("plan", folder, "--json").out)

    assert "~ workflow ship (version 1)\n    ~ task pack: use: " in planned.out
    assert "\x1b" not in planned.out
    assert quiet.out == "~ workflows/ship\n"
    assert told["changes"][0]["lines"][0]["sign"] == "~"
    assert len(told["fingerprint"]) == 64


def test_a_problem_names_its_file_and_line(valkyr_in: Environments, folder: Path) -> None:
    (folder / "workflows" / "ship.yaml").write_text(SHIP.replace("flow.noop", "no.such"))

    planned, applied = valkyr_in("plan", folder), valkyr_in("apply", folder)

    assert planned.code == applied.code == 7
    assert f"! {folder}/workflows/ship.yaml:6: " in planned.out
    assert "so nothing was changed" in applied.err
    assert not Workflow.objects.filter(workspace=valkyr_in["staging"]).exists()


def test_a_wrong_command_line_of_plan_is_not_taken_for_changes(
    valkyr_in: Environments, folder: Path
) -> None:
    assert valkyr_in("plan", folder, "--nonsense").code == 1
    assert valkyr_in("plan", folder / "none").code == 1
    assert valkyr_in("plan").code == 1


def test_apply_refuses_another_plan_than_the_one_named(
    valkyr_in: Environments, folder: Path
) -> None:
    fingerprint = json.loads(valkyr_in("plan", folder, "--json").out)["fingerprint"]
    valkyr_in("apply", folder)

    refused = valkyr_in("apply", folder, "--fingerprint", fingerprint)

    assert refused.code == 6
    assert "Somebody changed the workspace" in refused.err


def test_prune_archives_what_the_folder_no_longer_has(
    valkyr_in: Environments, folder: Path
) -> None:
    valkyr_in("apply", folder)
    (folder / "workflows" / "ship.yaml").unlink()

    kept = valkyr_in("plan", folder)
    planned = valkyr_in("plan", folder, "--prune")
    valkyr_in("apply", folder, "--prune")

    assert kept.code == 0
    assert "workflows/ship is no longer in the folder and stays" in kept.out
    assert planned.code == 2
    assert "- workflow ship (to be archived)" in planned.out
    assert Workflow.objects.get(workspace=valkyr_in["staging"]).archived_at is not None


def test_an_exported_folder_has_no_changes_and_keeps_its_comments(
    valkyr_in: Environments, folder: Path, tmp_path: Path
) -> None:
    valkyr_in("apply", folder)

    fresh = valkyr_in("export", tmp_path / "fresh")
    valkyr_in("export", folder)

    assert fresh.code == 0, fresh.err
    assert valkyr_in("plan", tmp_path / "fresh").code == 0
    assert (folder / "workflows" / "ship.yaml").read_text() == SHIP


def credentials_of(workspace: Workspace, names: list[str]) -> None:
    for name in names:
        credentials.create(
            workspace,
            name=name,
            type="secret",
            fields={"value": "x" * 32},
            hosts=["*"],
            actor=ACTOR,
        )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_plans_no_changes_after_it_was_applied(
    valkyr_in: Environments, tmp_path: Path, path: Path
) -> None:
    folder = tmp_path / "example"
    (folder / "workflows").mkdir(parents=True)
    for file in path.rglob("*.yaml"):
        name = load_text(file.read_text(), content_type="yaml")["name"]
        target = folder / "workflows" / f"{versioning.slug_of(name)}.yaml"
        target.write_text(file.read_text())
    first = json.loads(valkyr_in("plan", folder, "--json").out)
    credentials_of(valkyr_in["staging"], first["missingCredentials"])

    applied = valkyr_in("apply", folder)
    planned = [valkyr_in("plan", folder) for _ in range(2)]
    valkyr_in("export", tmp_path / "exported")
    exported = [valkyr_in("plan", tmp_path / "exported") for _ in range(2)]

    assert applied.code == 0, applied.out + applied.err
    assert [one.code for one in planned + exported] == [0, 0, 0, 0], planned[0].out
    assert all(one.out.startswith("No changes.") for one in planned + exported)


def test_a_version_is_promoted_with_what_it_calls(valkyr_in: Environments, folder: Path) -> None:
    (folder / "workflows" / "order.yaml").write_text(
        "schema: valkyr/1\nname: Order\ntasks:\n"
        "  - {id: ship, use: flow.subworkflow, with: {workflow: ship}}\n"
    )
    valkyr_in("apply", folder)
    words = ("promote", "order", "--from", "staging", "--to", "production")

    shown = valkyr_in(*words, "--dry-run")
    done = valkyr_in(*words)
    again = valkyr_in(*words, "--dry-run")

    assert shown.code == 2, shown.err
    assert "+ workflow order (new)" in shown.out
    assert "+ workflow ship (new)" in shown.out
    assert done.code == again.code == 0, done.err
    rows = Workflow.objects.filter(slug__in=["order", "ship"], archived_at=None)
    found = rows.filter(workspace__in=valkyr_in.workspaces.values())
    assert len({(w.slug, w.latest_version.checksum) for w in found if w.latest_version}) == 2
    assert found.count() == 4


def test_promoting_says_which_credentials_are_missing(
    valkyr_in: Environments, folder: Path
) -> None:
    step = "    credential: partner\n    with: {url: https://p.example}\n"
    text = SHIP.replace("flow.noop", "http.request") + step
    (folder / "workflows" / "ship.yaml").write_text(text)
    credentials_of(valkyr_in["staging"], ["partner"])
    assert valkyr_in("apply", folder).code == 0

    refused = valkyr_in("promote", "ship", "--from", "staging", "--to", "production")

    assert refused.code == 7
    assert "Missing credentials: partner" in refused.out
    assert not Workflow.objects.filter(workspace=valkyr_in["production"]).exists()


def test_promoting_to_a_workspace_from_git_leaves_its_record_and_its_other_workflows(
    valkyr_in: Environments, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / "workflows").mkdir(parents=True)
    (other / "workflows" / "pack.yaml").write_text(SHIP)
    valkyr_in("apply", folder)
    valkyr_in("apply", other, "--commit", "def456", where="production")

    done = valkyr_in("promote", "ship", "--from", "staging", "--to", "production")

    assert done.code == 0, done.err
    assert "workflows/pack" not in done.out
    record = AppliedBundle.objects.get(workspace=valkyr_in["production"])
    assert (record.commit, record.keys) == ("def456", ["workflows/pack"])


def test_where_only_git_publishes_a_file_is_not_published_by_hand(
    valkyr_in: Environments, folder: Path
) -> None:
    Workspace.objects.filter(pk=valkyr_in["staging"].pk).update(publish_from_git=True)

    applied = valkyr_in("apply", folder)
    refused = valkyr_in("publish", folder / "workflows" / "ship.yaml")

    assert applied.code == 0, applied.err
    assert refused.code == 6
    assert "from Git only" in refused.err
