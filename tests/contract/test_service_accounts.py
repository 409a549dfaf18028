"""Service accounts: programs of one workspace, with tokens and without passwords."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from executions.models import Activity, Membership, ServiceAccount, Workspace

pytestmark = pytest.mark.django_db

Clients = Callable[[Any], APIClient]
Members = Callable[..., Any]


@pytest.fixture
def robot(admin: APIClient) -> dict[str, Any]:
    """Create a service account that may trigger and run."""
    answer = admin.post("/v1/ServiceAccount", {"name": "robot"}, format="json")
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


def _token(admin: APIClient, robot: dict[str, Any], **body: Any) -> APIClient:
    given = {"name": "key", "serviceAccountId": robot["id"], **body}
    answer = admin.post("/v1/ApiToken", given, format="json")
    assert answer.status_code == 201, answer.content
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {answer.json()['token']}")
    return client


def test_a_service_account_works_by_token_within_its_role(
    admin: APIClient, robot: dict[str, Any], greeting: dict[str, Any]
) -> None:
    client = _token(admin, robot)
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"

    assert client.post(address, {"params": {"name": "x"}}, format="json").status_code == 202
    assert client.get(f"/v1/Workflow/{greeting['id']}").status_code == 403
    row = Activity.objects.get(action="execution.start")
    assert (row.actor_name, row.via) == ("service:default:robot", "api token key")
    me = client.get("/v1/Me").json()
    assert me["serviceAccountId"] == robot["id"]
    assert set(me["token"]["scopes"]) == {"trigger", "tell", "run"}


def test_its_user_has_no_password_and_no_way_into_the_admin(
    robot: dict[str, Any], client: Any
) -> None:
    user = get_user_model().objects.get(pk=robot["userId"])

    assert not user.has_usable_password()
    assert not user.is_staff
    body = {"username": user.username, "password": ""}
    assert APIClient().post("/v1/auth/token", body, format="json").status_code in {401, 422}
    body = {"username": user.username, "password": user.password}
    assert APIClient().post("/v1/auth/token", body, format="json").status_code == 401


def test_a_role_taken_away_holds_for_tokens_at_once(
    admin: APIClient, robot: dict[str, Any], greeting: dict[str, Any]
) -> None:
    client = _token(admin, robot)
    address = f"/v1/ServiceAccount/{robot['id']}"

    changed = admin.patch(address, {"role": "USER", "permissions": ["bulk"]}, format="json")

    assert changed.json()["role"] == "USER"
    assert changed.json()["permissions"] == ["bulk"]
    start = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    assert client.post(start, {"params": {"name": "x"}}, format="json").status_code == 404
    row = Activity.objects.get(action="service_account.update")
    assert (row.before["role"], row.after["role"]) == ("SYSTEM", "USER")  # type: ignore[index]


def test_switching_it_off_stops_its_tokens_and_switching_it_on_lets_them_in_again(
    admin: APIClient, robot: dict[str, Any]
) -> None:
    client = _token(admin, robot)
    address = f"/v1/ServiceAccount/{robot['id']}"

    assert admin.delete(address).status_code == 204
    refused = client.get("/v1/Me")
    assert (refused.status_code, refused.json()["code"]) == (401, "account_disabled")
    more = {"name": "x", "serviceAccountId": robot["id"]}
    assert admin.post("/v1/ApiToken", more, format="json").status_code == 409
    assert admin.get(address).json()["enabled"] is False
    assert admin.delete(address).status_code == 204
    assert Activity.objects.filter(action="service_account.update").count() == 1

    assert admin.patch(address, {"enabled": True}, format="json").json()["disabledAt"] is None
    assert client.get("/v1/Me").status_code == 200


def test_a_name_is_there_once_and_a_new_one_shows_in_the_trail(
    admin: APIClient, robot: dict[str, Any]
) -> None:
    taken = admin.post("/v1/ServiceAccount", {"name": "robot"}, format="json")
    other = admin.post("/v1/ServiceAccount", {"name": "other"}, format="json").json()
    clash = admin.patch(f"/v1/ServiceAccount/{other['id']}", {"name": "robot"}, format="json")
    renamed = admin.patch(f"/v1/ServiceAccount/{other['id']}", {"name": "arm"}, format="json")

    assert (taken.status_code, taken.json()["code"]) == (409, "taken")
    assert clash.status_code == 409
    assert renamed.json()["username"] == "service:default:arm"
    assert ServiceAccount.objects.count() == 2


def test_a_name_too_long_for_its_user_is_refused_by_name(
    workspace: Workspace, client_of: Clients, member: Members
) -> None:
    long = Workspace.objects.create(slug="s" * 80, name="Long", tier=workspace.tier)
    client = client_of(member("ADMIN", long))

    answer = client.post("/v1/ServiceAccount", {"name": "n" * 80}, format="json")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "name"
    assert "at most 61 characters" in answer.json()["errors"][0]["message"]
    assert not ServiceAccount.objects.exists()


def test_only_who_administers_the_workspace_sees_and_changes_them(
    author: APIClient,
    robot: dict[str, Any],
    member: Members,
    client_of: Clients,
    elsewhere: Workspace,
) -> None:
    stranger = client_of(member("ADMIN", elsewhere))
    address = f"/v1/ServiceAccount/{robot['id']}"

    assert author.get("/v1/ServiceAccount").json() == []
    assert author.get(address).status_code == 403
    assert author.post("/v1/ServiceAccount", {"name": "x"}, format="json").status_code == 403
    for answer in (
        stranger.get(address),
        stranger.patch(address, {"role": "ADMIN"}, format="json"),
        stranger.delete(address),
        stranger.post("/v1/ApiToken", {"name": "x", "serviceAccountId": robot["id"]}, "json"),
    ):
        assert answer.status_code == 404


def test_a_program_stays_in_its_workspace_and_its_membership_with_it(
    admin: APIClient,
    robot: dict[str, Any],
    member: Members,
    client_of: Clients,
    elsewhere: Workspace,
) -> None:
    other = client_of(member("ADMIN", elsewhere))
    body = {"userId": robot["userId"], "role": "ADMIN"}
    added = other.post("/v1/Membership", body, format="json")
    [membership] = [
        row for row in admin.get("/v1/Membership").json() if row["serviceAccountId"] == robot["id"]
    ]

    removed = admin.delete(f"/v1/Membership/{membership['id']}")

    assert (added.status_code, added.json()["errors"][0]["code"]) == (422, "service_account")
    assert (removed.status_code, removed.json()["state"]) == (409, "SERVICE_ACCOUNT")
    assert Membership.objects.filter(user_id=robot["userId"]).count() == 1


def test_a_script_gets_its_first_token_from_a_command(workspace: Workspace) -> None:
    out = StringIO()
    call_command("create_service_account", "deploy", stdout=out)
    call_command("create_service_account", "deploy", "--token", "second", stdout=out)
    first, second = out.getvalue().split()

    for token in (first, second):
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        assert client.get("/v1/Me").json()["username"] == "service:default:deploy"
    assert ServiceAccount.objects.count() == 1
    assert set(Activity.objects.values_list("via", flat=True)) == {"command"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no spaces"], "is not valid"),
        (["deploy", "--workspace", "nowhere"], "no workspace 'nowhere'"),
        (["deploy", "--role", "USER"], "has no permissions in workspace"),
    ],
)
def test_the_command_says_what_is_wrong_and_makes_nothing(
    workspace: Workspace, arguments: list[str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("create_service_account", *arguments)

    assert not ServiceAccount.objects.exists()
