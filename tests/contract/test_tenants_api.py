"""Workspaces, tiers and memberships over HTTP: permissions, immediate effects, and what is
stored.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Activity, Membership, Tier, Workflow, Workspace
from tests.support.sharing import assign_perm

pytestmark = pytest.mark.django_db

Clients = Callable[[Any], APIClient]
Members = Callable[..., Any]


@pytest.fixture
def root(client_of: Clients) -> APIClient:
    """Return a superuser's client."""
    return client_of(get_user_model().objects.create_superuser("root"))


def test_a_superuser_makes_a_workspace_and_gives_it_an_administrator(
    root: APIClient, tier: Tier, client_of: Clients
) -> None:
    ada = get_user_model().objects.create_user("ada")
    made = root.post("/v1/Workspace", {"name": "Team Ärmel", "tierId": str(tier.pk)}, "json")
    assert made.status_code == 201, made.content
    assert made.json()["slug"] == "team-armel"
    body = {"workspaceId": made.json()["id"], "username": "ada", "role": "ADMIN"}

    joined = root.post("/v1/Membership", body, format="json")

    assert joined.status_code == 201, joined.content
    [seen] = client_of(ada).get("/v1/Workspace").json()
    assert (seen["role"], seen["tierName"]) == ("ADMIN", "unlimited")
    assert "reveal" in seen["permissions"]
    assert list(Activity.objects.values_list("action", flat=True).order_by("pk")) == [
        "workspace.create",
        "membership.create",
    ]


def test_a_slug_is_there_once(root: APIClient, tier: Tier, workspace: Workspace) -> None:
    body = {"name": "x", "slug": "default", "tierId": str(tier.pk)}

    answer = root.post("/v1/Workspace", body, format="json")

    assert (answer.status_code, answer.json()["code"]) == (409, "taken")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": "x", "tierId": "018f0000-0000-7000-8000-000000000000"}, "tierId"),
        ({"name": "***", "tierId": None}, "slug"),
        ({"name": "x", "tierId": None, "slug": "no spaces"}, "slug"),
    ],
)
def test_a_workspace_that_cannot_be_made_says_why(
    root: APIClient, tier: Tier, body: dict[str, Any], path: str
) -> None:
    body = {**body, "tierId": body["tierId"] or str(tier.pk)}

    answer = root.post("/v1/Workspace", body, format="json")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == path


def test_an_administrator_renames_its_workspace_and_cannot_raise_its_limits(
    admin: APIClient, workspace: Workspace
) -> None:
    big = Tier.objects.create(name="big")
    address = f"/v1/Workspace/{workspace.pk}"

    assert admin.patch(address, {"name": "Ours"}, format="json").json()["name"] == "Ours"
    for body in ({"tierId": str(big.pk)}, {"archived": True}):
        answer = admin.patch(address, body, format="json")
        assert answer.status_code == 403, answer.content
    assert admin.delete(address).status_code == 403
    assert (
        admin.post("/v1/Workspace", {"name": "x", "tierId": str(big.pk)}, "json").status_code == 403
    )


def test_an_administrator_sets_the_egress_rules_of_its_workspace(
    admin: APIClient, author: APIClient, workspace: Workspace
) -> None:
    address = f"/v1/Workspace/{workspace.pk}"
    hosts = ["*.Example.com", "10.0.0.0/8:5432"]

    changed = admin.patch(address, {"egressHosts": hosts}, format="json")

    assert changed.json()["egressHosts"] == ["*.example.com", "10.0.0.0/8:5432"]
    assert author.get(address).json()["egressHosts"] == ["*.example.com", "10.0.0.0/8:5432"]
    assert author.patch(address, {"egressHosts": []}, format="json").status_code == 403
    wrong = admin.patch(address, {"egressHosts": ["ok.example", "https://x/"]}, format="json")
    assert (wrong.status_code, wrong.json()["errors"][0]["path"]) == (422, "egressHosts[1]")
    assert admin.patch(address, {"egressHosts": []}, "json").json()["egressHosts"] == []


@pytest.mark.parametrize("role", ["WORKFLOW", "SYSTEM", "USER"])
def test_every_member_sees_the_workspace_and_only_administrators_change_it(
    member: Members, client_of: Clients, workspace: Workspace, elsewhere: Workspace, role: str
) -> None:
    client = client_of(member(role))
    address = f"/v1/Workspace/{workspace.pk}"

    assert client.get(address).json()["role"] == role
    assert [row["slug"] for row in client.get("/v1/Workspace").json()] == ["default"]
    assert client.patch(address, {"name": "x"}, format="json").status_code == 403
    assert client.get(f"/v1/Workspace/{elsewhere.pk}").status_code == 404
    assert client.patch(f"/v1/Workspace/{elsewhere.pk}", {"name": "x"}, "json").status_code == 404
    assert [row["name"] for row in client.get("/v1/Tier").json()] == ["unlimited"]


def test_a_user_with_one_workflow_makes_a_token_for_just_that(
    member: Members, client_of: Clients, greeting: dict[str, Any]
) -> None:
    user = member("USER")
    assign_perm("execute_workflow", user, Workflow.objects.get(pk=greeting["id"]))

    answer = client_of(user).post("/v1/ApiToken", {"name": "one"}, format="json")

    assert answer.status_code == 201, answer.content
    assert answer.json()["scopes"] == ["trigger"]


def test_nothing_starts_in_an_archived_workspace_until_it_is_restored(
    root: APIClient, author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    address = f"/v1/Workspace/{workspace.pk}"
    start = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    body = {"params": {"name": "x"}}
    before = author.post(start, body, format="json").json()["id"]

    assert root.delete(address).status_code == 204
    assert root.delete(address).status_code == 204
    refused = author.post(start, body, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "workspace_archived")
    batch = {"payloads": [{"name": "x"}]}
    assert author.post(f"{start}-batch", batch, format="json").status_code == 409
    assert author.post(f"/v1/WorkflowExecution/{before}/replay", {}, "json").status_code == 409
    assert author.get(f"/v1/WorkflowExecution/{before}").status_code == 200
    assert author.get(address).json()["archivedAt"] is not None
    assert author.get("/v1/Workspace?archived=false").json() == []

    assert root.patch(address, {"archived": False}, format="json").json()["archivedAt"] is None
    assert author.post(start, body, format="json").status_code == 202
    actions = Activity.objects.filter(object_type="Workspace").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == [
        "workspace.archive",
        "workspace.restore",
    ]


def test_schedules_rest_while_their_workspace_is_archived(
    root: APIClient, author: APIClient, workspace: Workspace
) -> None:
    definition = {
        "schema": "valkyr/1",
        "name": "nightly",
        "tasks": [{"id": "a", "use": "flow.noop"}],
        "triggers": [{"type": "CRON", "schedule": "* * * * *"}],
    }
    made = author.post("/v1/Workflow", {"definition": definition}, format="json").json()
    author.post(f"/v1/Workflow/{made['id']}/publish")
    trigger = Workflow.objects.get(pk=made["id"]).triggers.get()
    assert trigger.next_at is not None

    root.delete(f"/v1/Workspace/{workspace.pk}")
    trigger.refresh_from_db()
    assert (trigger.next_at, trigger.enabled) == (None, True)

    root.patch(f"/v1/Workspace/{workspace.pk}", {"archived": False}, format="json")
    trigger.refresh_from_db()
    assert trigger.next_at is not None


def test_tiers_are_written_by_superusers_and_kept_while_needed(
    root: APIClient, admin: APIClient, workspace: Workspace
) -> None:
    made = root.post("/v1/Tier", {"name": "small", "maxConcurrent": 2}, format="json")
    assert made.status_code == 201, made.content
    address = f"/v1/Tier/{made.json()['id']}"
    assert admin.get(address).status_code == 404
    body = {"tierId": made.json()["id"]}
    assert root.patch(f"/v1/Workspace/{workspace.pk}", body, format="json").status_code == 200

    assert admin.get(address).json()["maxConcurrent"] == 2
    assert admin.patch(address, {"maxConcurrent": 9}, format="json").status_code == 403
    assert admin.delete(address).status_code == 403
    changed = root.patch(address, {"maxConcurrent": None, "maxPending": 5}, format="json")
    assert (changed.json()["maxConcurrent"], changed.json()["maxPending"]) == (None, 5)
    refused = root.delete(address)
    assert (refused.status_code, refused.json()["code"]) == (409, "in_use")
    assert "default" in refused.json()["detail"]
    row = Activity.objects.get(action="tier.update")
    assert (row.before["max_concurrent"], row.after["max_concurrent"]) == (2, None)  # type: ignore[index]
    assert root.post("/v1/Tier", {"name": "small"}, format="json").status_code == 409
    assert root.patch(address, {"maxPerDay": "5"}, format="json").status_code == 422
    assert root.patch(address, {"maxPerDay": -1}, format="json").status_code == 422


def test_a_membership_holds_at_once_and_is_gone_at_once(
    admin: APIClient, client_of: Clients, greeting: dict[str, Any]
) -> None:
    ada = get_user_model().objects.create_user("ada")
    client = client_of(ada)
    address = f"/v1/Workflow/{greeting['id']}"
    assert client.get(address).status_code == 404

    body = {"userId": ada.pk, "role": "USER", "permissions": ["bulk", "bulk", "discard"]}
    joined = admin.post("/v1/Membership", body, format="json")
    assert joined.json()["permissions"] == ["bulk", "discard"]
    one = f"/v1/Membership/{joined.json()['id']}"
    assert admin.patch(one, {"role": "WORKFLOW"}, format="json").status_code == 200
    assert client.get(address).status_code == 200
    assert admin.post("/v1/Membership", body, format="json").status_code == 409
    assert admin.delete(one).status_code == 204

    assert client.get(address).status_code == 404
    assert list(
        Activity.objects.filter(object_type="Membership")
        .order_by("pk")
        .values_list("action", flat=True)
    ) == ["membership.create", "membership.update", "membership.delete"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"username": "nobody", "role": "USER"}, "username"),
        ({"userId": 2_000_000_000, "role": "USER"}, "userId"),
        ({"username": "ada", "userId": 1, "role": "USER"}, "username"),
        ({"role": "USER"}, "username"),
        ({"username": "ada", "role": "KING"}, "role"),
        ({"username": "ada", "role": "USER", "permissions": ["fly"]}, "permissions[0]"),
    ],
)
def test_a_membership_that_cannot_be_made_says_why(
    admin: APIClient, body: dict[str, Any], path: str
) -> None:
    get_user_model().objects.create_user("ada")

    answer = admin.post("/v1/Membership", body, format="json")

    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["path"] == path


@pytest.mark.parametrize("who", ["admin", "root"])
def test_nobody_removes_or_demotes_the_last_administrator(
    request: pytest.FixtureRequest, admin: APIClient, workspace: Workspace, who: str
) -> None:
    client = request.getfixturevalue(who)
    robot = {"name": "robot", "role": "ADMIN"}  # a program is not a contact
    assert admin.post("/v1/ServiceAccount", robot, format="json").status_code == 201
    own = Membership.objects.get(user__valkyr_service_account=None)
    address = f"/v1/Membership/{own.pk}"

    for answer in (
        client.patch(address, {"role": "WORKFLOW"}, format="json"),
        client.delete(address),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "last_administrator")
    assert client.patch(address, {"permissions": []}, format="json").status_code == 200

    get_user_model().objects.create_user("ada")
    client.post(
        "/v1/Membership",
        {"workspaceId": str(workspace.pk), "username": "ada", "role": "ADMIN"},
        format="json",
    )
    assert client.patch(address, {"role": "WORKFLOW"}, format="json").status_code == 200


def test_members_of_another_workspace_are_out_of_reach(
    admin: APIClient, member: Members, elsewhere: Workspace
) -> None:
    theirs = member("WORKFLOW", elsewhere).valkyr_memberships.get()
    address = f"/v1/Membership/{theirs.pk}"
    body = {"workspaceId": str(elsewhere.pk), "userId": theirs.user_id, "role": "ADMIN"}

    assert admin.get(address).status_code == 404
    assert admin.patch(address, {"role": "ADMIN"}, format="json").status_code == 404
    assert admin.delete(address).status_code == 404
    assert admin.post("/v1/Membership", body, format="json").status_code == 404
    assert [row["id"] for row in admin.get("/v1/Membership").json()] != [str(theirs.pk)]


def test_who_does_not_administer_sees_and_changes_no_members(
    author: APIClient, admin: APIClient, workspace: Workspace
) -> None:
    row = Membership.objects.get(user__username="workflow-default")
    address = f"/v1/Membership/{row.pk}"

    assert author.get("/v1/Membership").json() == []
    assert author.get(address).status_code == 403
    assert author.patch(address, {"role": "ADMIN"}, format="json").status_code == 403
    assert (
        author.post("/v1/Membership", {"username": "x", "role": "USER"}, "json").status_code == 403
    )
