"""Definitions as bundles: export, plan and apply over HTTP; tenancy, permissions and the audit
trail.
"""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions import credentials
from executions.models import (
    Activity,
    AppliedBundle,
    Membership,
    Tier,
    Workflow,
    WorkflowVersion,
    Workspace,
)
from executions.publishing import rollout
from executions.publishing.from_code import publish_from_code
from tests.support.workflows import ACTOR
from valkyr_plugins.alerts.models import AlertRule
from valkyr_plugins.alerts.rules import secret_of
from valkyr_plugins.circuits.models import CircuitRule
from valkyr_plugins.limits.bundle_items import BudgetItems
from valkyr_plugins.limits.models import Budget, Quota

from .people import GREETING, a_client, a_member, a_workspace

pytestmark = pytest.mark.django_db

SHIP: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "Ship orders",
    "tasks": [
        {"id": "pack", "use": "flow.noop"},
        {"id": "send", "use": "flow.noop", "after": "pack"},
    ],
}
BROKEN: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "b",
    "tasks": [{"id": "a", "use": "no.such"}],
}
COMMIT = {"repository": "https://git.example/shop", "commit": "abc123", "ref": "main"}


def address(what: str = "", workspace: Workspace | None = None) -> str:
    return f"/v1/Workspace/{(workspace or a_workspace()).pk}/bundle{what}"


def plan(client: APIClient, workflows: Any, status: int = 200, **more: Any) -> Any:
    body = {"workflows": workflows, **more}
    answer = client.post(address("/plan"), body, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def apply(client: APIClient, workflows: Any, status: int = 200, **more: Any) -> Any:
    body = {"workflows": workflows, **more}
    answer = client.post(address("/apply"), body, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def actions(found: Any) -> list[tuple[str, str, str]]:
    return [(one["action"], one["kind"], one["name"]) for one in found["changes"]]


def lines(change: Any) -> list[str]:
    return [f"{line['sign']} {line['text']}" for line in change["lines"]]


def edited(definition: dict[str, Any], **more: Any) -> dict[str, Any]:
    return definition | more


def test_a_bundle_is_planned_applied_and_then_has_no_changes(author: APIClient) -> None:
    wanted = {"greeting": GREETING, "ship": SHIP}

    first = plan(author, wanted)
    done = apply(author, wanted, fingerprint=first["fingerprint"])
    again = plan(author, wanted)

    assert actions(first) == [("create", "workflows", "greeting"), ("create", "workflows", "ship")]
    assert "+ task pack (flow.noop)" in lines(first["changes"][1])
    assert done["versions"] == {"greeting": 1, "ship": 1}
    assert again["changes"] == []
    assert again["unchanged"] == 2


def test_a_plan_changes_nothing(admin: APIClient) -> None:
    budgets = {"budgets": [{"amount": "20", "currency": "EUR"}]}

    plan(admin, {"ship": SHIP}, resources=budgets)

    assert not Workflow.objects.exists()
    assert not Budget.objects.exists()
    assert not Activity.objects.exists()


def test_a_changed_workflow_is_shown_in_words_and_gets_a_version(author: APIClient) -> None:
    apply(author, {"ship": SHIP})
    new = edited(SHIP, tasks=[*SHIP["tasks"], {"id": "tell", "use": "flow.noop", "after": "send"}])

    found = plan(author, {"ship": new})
    done = apply(author, {"ship": new})

    (change,) = found["changes"]
    assert (change["action"], change["version"]) == ("change", 1)
    assert lines(change) == ["+ task tell (flow.noop)", "+ edge send → tell"]
    assert done["versions"] == {"ship": 2}
    assert Workflow.objects.get().definition == new
    assert plan(author, {"ship": new})["changes"] == []


def test_what_is_exported_plans_no_changes(admin: APIClient, greeting: dict[str, Any]) -> None:
    draft = {**GREETING, "tasks": [*GREETING["tasks"], {"id": "later", "use": "flow.noop"}]}
    admin.patch(f"/v1/Workflow/{greeting['id']}", {"definition": draft}, format="json")
    admin.post("/v1/Workflow", {"name": "never published"}, format="json")
    apply(admin, {}, resources={"budgets": [{"amount": 20, "currency": "EUR"}]})

    found = admin.get(address()).json()

    assert found["workflows"] == {"greeting": GREETING}
    assert found["leftOut"] == {"never-published": "never_published"}
    assert found["resources"]["budgets"] == [{"currency": "EUR", "amount": "20"}]
    again = plan(admin, found["workflows"], resources=found["resources"])
    assert (again["changes"], again["problems"]) == ([], [])


def test_a_draft_in_progress_is_left_alone_until_the_file_changes_its_workflow(
    author: APIClient,
) -> None:
    apply(author, {"ship": SHIP})
    flow = Workflow.objects.get()
    draft = edited(SHIP, description="in progress")
    author.patch(f"/v1/Workflow/{flow.pk}", {"definition": draft}, format="json")

    same = plan(author, {"ship": SHIP})
    other = plan(author, {"ship": edited(SHIP, name="Other")})

    assert same["changes"] == []
    assert other["changes"][0]["warnings"] == [
        "The draft has unpublished changes. They will be replaced."
    ]


def test_layout_alone_changes_the_draft_and_publishes_nothing(author: APIClient) -> None:
    apply(author, {"ship": SHIP})
    moved = edited(SHIP, ui={"comments": [{"at": "", "before": "by Ann"}]})

    found = plan(author, {"ship": moved})
    apply(author, {"ship": moved})

    assert actions(found) == [("layout", "workflows", "ship")]
    assert WorkflowVersion.objects.count() == 1
    assert Workflow.objects.get().definition == moved
    assert plan(author, {"ship": moved})["changes"] == []


def test_apply_refuses_when_somebody_edited_meanwhile(author: APIClient) -> None:
    apply(author, {"ship": SHIP})
    new = {"ship": edited(SHIP, name="New")}
    made = plan(author, new)
    flow = Workflow.objects.get()
    author.patch(f"/v1/Workflow/{flow.pk}", {"description": "mine"}, format="json")

    refused = apply(author, new, 412, fingerprint=made["fingerprint"])

    assert refused["code"] == "plan_outdated"
    assert WorkflowVersion.objects.count() == 1


def test_apply_refuses_other_files_than_those_of_the_plan(author: APIClient) -> None:
    made = plan(author, {"ship": SHIP})

    refused = apply(author, {"ship": edited(SHIP, name="x")}, 412, fingerprint=made["fingerprint"])

    assert refused["detail"].startswith("The files are not those of the plan.")


def test_an_edit_of_another_workflow_does_not_matter(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    made = plan(author, {"ship": SHIP})
    author.patch(f"/v1/Workflow/{greeting['id']}", {"description": "mine"}, format="json")

    apply(author, {"ship": SHIP}, fingerprint=made["fingerprint"])


def test_one_problem_keeps_everything_as_it_was(admin: APIClient) -> None:
    wanted = {"bad": BROKEN, "ship": SHIP}
    quotas = {"quotas": [{"resource": "module", "target": "no.such", "maxPerDay": 5}]}

    found = plan(admin, wanted, resources=quotas)
    refused = apply(admin, wanted, 422, resources=quotas)
    alone = apply(admin, {"ship": SHIP}, 422, resources=quotas)

    assert found["valid"] is False
    assert [one["path"] for one in found["problems"]] == [
        "workflows.bad.tasks[0].use",
        "resources.quotas[0].target",
    ]
    assert refused["code"] == "invalid_bundle"
    assert refused["errors"][0]["path"] == "workflows.bad.tasks[0].use"
    assert alone["errors"][0]["path"] == "resources.quotas[0].target"
    assert not Workflow.objects.exists()
    assert not Quota.objects.exists()


def test_prune_archives_what_came_from_a_bundle_and_nothing_else(
    admin: APIClient, greeting: dict[str, Any]
) -> None:
    items = {"budgets": [{"amount": "20", "currency": "EUR"}], "quotas": [{"maxPerDay": 5}]}
    both = {"ship": SHIP, "extra": edited(SHIP, name="Extra")}
    apply(admin, both, resources=items, source=COMMIT)

    kept = plan(admin, {"ship": SHIP}, resources={"budgets": []})
    apply(admin, {"ship": SHIP}, resources={"budgets": []}, source=COMMIT)
    found = plan(admin, {"ship": SHIP}, resources={"budgets": []}, prune=True)
    apply(admin, {"ship": SHIP}, resources={"budgets": []}, prune=True, source=COMMIT)

    assert kept["changes"] == []
    assert kept["kept"] == ["workflows/extra", "budgets/month, EUR", "quotas/executions"]
    assert actions(found) == [
        ("archive", "workflows", "extra"),
        ("delete", "budgets", "month, EUR"),
        ("delete", "quotas", "executions"),
    ]
    live = Workflow.objects.filter(archived_at=None).values_list("slug", flat=True)
    assert set(live) == {"ship", "greeting"}
    assert not Budget.objects.exists()
    assert plan(admin, {"ship": SHIP}, prune=True)["changes"] == []


def test_a_workflow_from_code_is_not_taken(author: APIClient) -> None:
    publish_from_code("ship", SHIP, origin="shop.flows:ship", workspace=a_workspace())

    found = plan(author, {"ship": SHIP})

    assert [one["code"] for one in found["problems"]] == ["workflow_from_code"]
    assert author.get(address()).json()["leftOut"] == {"ship": "from_code"}


def test_missing_credentials_are_named(author: APIClient) -> None:
    needs = edited(SHIP, tasks=[
        {"id": "a", "use": "http.request", "credential": "partner", "with": {"url": "https://p.example"}}
    ])  # fmt: skip

    found = plan(author, {"ship": needs})

    assert found["missingCredentials"] == ["partner"]
    assert [one["code"] for one in found["problems"]] == ["unknown_credential"]


def test_a_version_is_only_taken_with_its_checksum(author: APIClient) -> None:
    checksum = author.post("/v1/Workflow/validate", {"definition": SHIP}, format="json").json()[
        "checksum"
    ]

    good = plan(author, {"ship": SHIP}, checksums={"ship": checksum})
    bad = plan(author, {"ship": SHIP}, checksums={"ship": "f" * 64})

    assert good["valid"]
    assert [one["code"] for one in bad["problems"]] == ["checksum_differs"]


def test_alert_rules_budgets_and_quotas_follow_the_bundle(admin: APIClient) -> None:
    ann = a_member("USER", name="ann")
    items: dict[str, Any] = {
        "alert-rules": [
            {
                "name": "Ops",
                "kinds": ["GROUP_NEW"],
                "channel": "EMAIL",
                "recipients": ["a@b.example"],
                "workflow": "ship",
            }
        ],
        "budgets": [{"amount": 12.5, "currency": "EUR", "user": "ann"}],
        "quotas": [{"resource": "module", "target": "http.request", "maxConcurrent": 3}],
    }

    first = plan(admin, {"ship": SHIP}, resources=items)
    apply(admin, {"ship": SHIP}, resources=items)
    again = plan(admin, {"ship": SHIP}, resources=items)
    items["budgets"][0]["amount"] = 20
    items["alert-rules"][0]["kinds"] = ["GROUP_NEW", "ENTRY_OLD"]
    changed = plan(admin, {"ship": SHIP}, resources=items)
    apply(admin, {"ship": SHIP}, resources=items)

    assert (first["problems"], again["changes"]) == ([], [])
    assert [lines(one) for one in changed["changes"]] == [
        ['+ kinds[1]: "ENTRY_OLD"'],
        ['~ amount: "12.5" → "20"'],
    ]
    assert AlertRule.objects.get().about == Workflow.objects.get()
    assert Budget.objects.get().user == ann
    assert plan(admin, {"ship": SHIP}, resources=items)["changes"] == []


def test_an_alert_rule_takes_its_secret_from_a_credential(
    admin: APIClient, workspace: Workspace
) -> None:
    first, second = (f"https://hooks.slack.com/services/{n}" for n in "12")
    rule = {"name": "Ops", "kinds": ["GROUP_NEW"], "channel": "SLACK", "credential": "ops"}
    items = {"alert-rules": [rule]}

    missing = plan(admin, {}, resources=items)
    made = credentials.create(
        workspace,
        name="ops",
        type="custom",
        fields={"webhook_url": first},
        hosts=["*"],
        actor=ACTOR,
    )
    apply(admin, {}, resources=items)
    same = plan(admin, {}, resources=items)
    credentials.update(made.pk, actor=ACTOR, fields={"webhook_url": second})
    changed = plan(admin, {}, resources=items)
    apply(admin, {}, resources=items)

    assert [one["path"] for one in missing["problems"]] == ["resources.alert-rules[0].credential"]
    assert same["changes"] == []
    assert lines(changed["changes"][0]) == ["~ secret: that of the credential ops"]
    assert secret_of(AlertRule.objects.get()) == second
    assert plan(admin, {}, resources=items)["changes"] == []
    exported = admin.get(address()).content.decode()
    assert "hooks.slack.com" not in exported


def test_tiers_and_circuit_rules_are_for_superusers(admin: APIClient) -> None:
    root = a_client(get_user_model().objects.create_superuser("root"))
    items = {
        "tiers": [{"name": "gold", "maxConcurrent": 50}],
        "circuit-rules": [{"pattern": "http.request:*", "failureThreshold": 3}],
    }

    refused = plan(admin, {}, 403, resources=items)
    apply(root, {}, resources=items)
    exported = root.get(address(), {"installation": "true"}).json()["resources"]

    assert "superuser" in refused["detail"]
    assert "tiers" not in admin.get(address()).json()["resources"]
    assert Tier.objects.get(name="gold").max_concurrent == 50
    assert CircuitRule.objects.get().failure_threshold == 3
    assert items["tiers"][0] in exported["tiers"]
    assert exported["circuit-rules"] == items["circuit-rules"]
    assert plan(root, {}, resources=exported)["changes"] == []


def test_forms_are_checked_with_their_places(admin: APIClient) -> None:
    items = {
        "budgets": [{"amount": "x"}, {"amout": 5}, 3, {"amount": 1, "killSwitch": "yes"}],
        "nonsense": [],
    }

    found = plan(admin, {"no slug": SHIP, "ok": 5}, resources=items)

    assert {(one["path"], one["code"]) for one in found["problems"]} >= {
        ("workflows.no slug", "bad_slug"),
        ("workflows.ok", "type"),
        ("resources.nonsense", "unknown_kind"),
        ("resources.budgets[0].amount", "type"),
        ("resources.budgets[1].amout", "unknown_field"),
        ("resources.budgets[1]", "required"),
        ("resources.budgets[2]", "type"),
        ("resources.budgets[3].killSwitch", "type"),
    }


@pytest.mark.parametrize("role", ["USER", "SYSTEM"])
def test_who_may_not_author_may_neither_plan_nor_apply(role: str) -> None:
    client = a_client(a_member(role))

    plan(client, {}, 403)
    apply(client, {}, 403)


def test_another_workspace_is_not_there(author: APIClient, elsewhere: Workspace) -> None:
    body = {"workflows": {"ship": SHIP}}

    for what in ("/plan", "/apply"):
        assert author.post(address(what, elsewhere), body, format="json").status_code == 404
    assert author.get(address("", elsewhere)).status_code == 404
    assert not Workflow.objects.exists()


def test_bundles_of_two_workspaces_are_apart(author: APIClient, elsewhere: Workspace) -> None:
    apply(author, {"ship": SHIP})
    Membership.objects.create(user=a_member("WORKFLOW"), workspace=elsewhere, role="WORKFLOW")

    answer = author.post(
        address("/apply", elsewhere),
        {"workflows": {"ship": edited(SHIP, name="Theirs")}, "prune": True},
        format="json",
    )

    assert answer.status_code == 200
    assert {w.workspace.slug: w.name for w in Workflow.objects.all()} == {
        "default": "Ship orders",
        "elsewhere": "Theirs",
    }


def test_items_need_the_power_to_configure(author: APIClient) -> None:
    plan(author, {}, 403, resources={"quotas": []})

    assert "quotas" not in author.get(address()).json()["resources"]


def test_the_trail_names_the_commit_and_what_changed(author: APIClient) -> None:
    apply(author, {"ship": SHIP}, source=COMMIT)
    apply(author, {"ship": SHIP}, source=COMMIT)

    row = Activity.objects.get(action="bundle.apply")
    assert row.details["commit"] == "abc123"
    assert row.details["changes"] == ["create workflows/ship"]
    assert {a.action for a in Activity.objects.all()} == {
        "bundle.apply",
        "workflow.create",
        "workflow.publish",
    }
    applied = AppliedBundle.objects.get()
    assert (applied.commit, applied.keys) == ("abc123", ["workflows/ship"])
    assert author.get(address()).json()["applied"]["commit"] == "abc123"


def test_a_workflow_says_where_it_comes_from(author: APIClient, greeting: dict[str, Any]) -> None:
    apply(author, {"ship": SHIP}, source=COMMIT)
    flow = Workflow.objects.get(slug="ship")

    git = author.get(f"/v1/Workflow/{flow.pk}").json()["git"]
    other = author.get(f"/v1/Workflow/{greeting['id']}").json()["git"]

    assert (git["managed"], git["commit"], git["locked"]) == (True, "abc123", False)
    assert (other["managed"], other["commit"]) == (False, "")


def test_a_bundle_without_a_source_leaves_the_record_as_it_is(author: APIClient) -> None:
    apply(author, {"ship": SHIP}, source=COMMIT)
    apply(author, {"other": edited(SHIP, name="Other")})

    assert AppliedBundle.objects.get().keys == ["workflows/ship"]
    assert Activity.objects.filter(action="bundle.apply").count() == 2


def only_from_git(workspace: Workspace) -> None:
    workspace.publish_from_git = True
    workspace.save()


def test_where_only_git_publishes_users_do_not(
    admin: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    only_from_git(workspace)
    flow = f"/v1/Workflow/{greeting['id']}"
    draft = {"definition": edited(GREETING, description="new")}

    assert admin.patch(flow, draft, format="json").status_code == 200
    published = admin.post(f"{flow}/publish")
    archived = admin.delete(flow)

    assert (published.status_code, archived.status_code) == (409, 409)
    assert published.json()["code"] == archived.json()["code"] == "published_from_git"
    assert admin.post(f"{flow}/test", {"params": {"name": "x"}}, format="json").status_code == 202


def test_where_only_git_publishes_applying_needs_a_permission_of_its_own(
    author: APIClient, workspace: Workspace
) -> None:
    only_from_git(workspace)
    refused = apply(author, {"ship": SHIP}, 403)

    Membership.objects.filter(user=a_member("WORKFLOW")).update(permissions=["deploy"])
    apply(author, {"ship": SHIP})

    assert "deploy" in refused["detail"]
    assert Workflow.objects.get().latest_version is not None


def test_a_plan_warns_of_a_version_that_was_rolled_back(author: APIClient) -> None:
    bad = edited(SHIP, tasks=SHIP["tasks"][:1])
    apply(author, {"ship": SHIP})
    apply(author, {"ship": bad})
    rollout.roll_back(Workflow.objects.get(slug="ship").pk, actor=ACTOR)

    (change,) = plan(author, {"ship": bad})["changes"]

    assert "This is version 2, which was withdrawn." in change["warnings"][0]
    assert plan(author, {"ship": SHIP})["changes"] == []


def test_a_plan_lists_what_stays_of_a_kind_that_the_bundle_no_longer_names(
    admin: APIClient, author: APIClient
) -> None:
    apply(admin, {}, resources={"budgets": [{"amount": "20", "currency": "EUR"}]}, source=COMMIT)

    assert plan(admin, {})["kept"] == ["budgets/month, EUR"]
    assert plan(author, {})["kept"] == []  # without the permission to configure
    assert actions(plan(admin, {}, prune=True)) == [("delete", "budgets", "month, EUR")]


def test_more_items_than_a_bundle_holds_are_refused(
    admin: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{"amount": "20", "currency": name} for name in ("EUR", "USD", "CHF")]
    apply(admin, {}, resources={"budgets": items})
    monkeypatch.setattr(BudgetItems, "most", 2)

    wanted = plan(admin, {}, resources={"budgets": items})
    stored = plan(admin, {}, resources={"budgets": items[:1]})
    exported = admin.get(address())

    assert [one["code"] for one in wanted["problems"] + stored["problems"]] == ["too_many"] * 2
    assert (exported.status_code, exported.json()["code"]) == (422, "bundle_too_large")
    assert "budgets" in exported.json()["detail"]
