"""API tokens are shown once, never have more rights than their user, and are revoked at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from rest_framework.test import APIClient

from executions.access import SCOPES
from executions.accounts import tokens
from executions.models import Activity, ApiToken, Membership, Workspace
from tests.support.round_trips import round_trips

pytestmark = pytest.mark.django_db

Clients = Callable[[Any], APIClient]
Members = Callable[..., Any]


def _make(client: APIClient, **body: Any) -> dict[str, Any]:
    answer = client.post("/v1/ApiToken", {"name": "ci", **body}, format="json")
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


def _with(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def test_a_token_lets_its_user_in_and_leaves_its_name_in_the_trail(author: APIClient) -> None:
    made = _make(author)
    client = _with(made["token"])

    answer = client.post("/v1/Workflow", {"name": "by token"}, format="json")

    assert answer.status_code == 201, answer.content
    row = Activity.objects.get(action="workflow.create")
    assert (row.via, row.actor_name) == ("api token ci", "workflow-default")


def test_a_token_is_stored_as_its_digest_and_shown_once(author: APIClient) -> None:
    made = _make(author)
    row = ApiToken.objects.get()

    shown = author.get(f"/v1/ApiToken/{row.pk}").json()

    assert "token" not in shown
    assert made["token"].startswith(shown["prefix"])
    assert row.digest == tokens.digest(made["token"])
    stored = [str(getattr(row, field.attname)) for field in ApiToken._meta.fields]
    assert not any(made["token"] in text for text in stored)
    assert made["token"] not in str(list(Activity.objects.values()))


def test_a_new_token_may_what_its_user_may_and_expires_after_ninety_days(
    author: APIClient,
) -> None:
    made = _make(author)

    assert set(SCOPES) - set(made["scopes"]) == {
        "administer",
        "run",
        "reveal",
        "configure",
        "deploy",
        "unattended",
    }
    expires = ApiToken.objects.get().expires_at
    assert expires is not None
    assert timedelta(days=89) < expires - timezone.now() <= timedelta(days=90)


def test_a_scope_left_out_is_refused_and_the_answer_says_so(author: APIClient) -> None:
    client = _with(_make(author, scopes=["view"])["token"])

    assert client.get("/v1/Workflow").status_code == 200
    refused = client.post("/v1/Workflow", {"name": "w"}, format="json")
    assert refused.status_code == 403
    assert "scopes do not include author" in refused.json()["detail"]


def test_a_token_sees_nothing_of_its_users_other_workspaces(
    member: Members, client_of: Clients, workspace: Workspace, elsewhere: Workspace
) -> None:
    both = member("WORKFLOW")
    both.valkyr_memberships.create(workspace=elsewhere, role="ADMIN")
    person = client_of(both)
    there = person.post(
        "/v1/Workflow", {"name": "w", "workspaceId": str(elsewhere.pk)}, format="json"
    ).json()
    client = _with(_make(person, workspaceId=str(workspace.pk))["token"])

    assert client.get("/v1/Workflow").json() == []
    assert client.get(f"/v1/Workflow/{there['id']}").status_code == 404
    assert [row["slug"] for row in client.get("/v1/Workspace").json()] == ["default"]
    assert client.get("/v1/Membership").json() == []
    assert person.post("/v1/ApiToken", {"name": "x"}, format="json").json()["code"] == (
        "workspace_required"
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"revoked_at": timezone.now()}, "token_revoked"),
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, "token_expired"),
        ({"digest": "0" * 64}, "token_unknown"),
    ],
)
def test_a_token_that_holds_no_more_is_a_401_that_says_why(
    author: APIClient, change: dict[str, Any], code: str
) -> None:
    client = _with(_make(author)["token"])
    ApiToken.objects.update(**change)

    answer = client.get("/v1/Workflow")

    assert (answer.status_code, answer.json()["code"]) == (401, code)
    assert answer["WWW-Authenticate"] == 'Bearer realm="valkyr"'


def test_a_token_of_a_switched_off_user_is_a_401(author: APIClient) -> None:
    client = _with(_make(author)["token"])
    get_user_model().objects.update(is_active=False)

    answer = client.get("/v1/Workflow")

    assert (answer.status_code, answer.json()["code"]) == (401, "account_disabled")


def test_a_typo_is_told_without_asking_the_database(author: APIClient) -> None:
    token = _make(author)["token"]
    wrong = token[:20] + ("a" if token[20] != "a" else "b") + token[21:]

    with round_trips() as trips:
        answers = [_with(text).get("/v1/Workflow") for text in (wrong, "vlk_", token + "0")]

    assert [(a.status_code, a.json()["code"]) for a in answers] == [(401, "token_malformed")] * 3
    assert len(trips) == 0


def test_a_known_token_costs_one_query_and_its_use_is_noted_once_a_minute(
    author: APIClient,
) -> None:
    client = _with(_make(author)["token"])
    client.get("/v1/Me")
    first = ApiToken.objects.get()

    with round_trips() as trips:
        client.get("/v1/ModuleType")

    assert len(trips) == 1
    again = ApiToken.objects.get()
    assert first.last_used_at is not None
    assert again.last_used_at == first.last_used_at
    assert again.last_used_from == "127.0.0.1"
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    client.get("/v1/Me")
    assert ApiToken.objects.get().last_used_at > first.last_used_at


def test_a_token_has_no_more_scopes_than_its_maker_may(author: APIClient) -> None:
    beyond = author.post(
        "/v1/ApiToken", {"name": "x", "scopes": ["view", "administer"]}, format="json"
    )
    unknown = author.post("/v1/ApiToken", {"name": "x", "scopes": ["everything"]}, format="json")

    assert beyond.status_code == 403
    assert "administer" in beyond.json()["detail"]
    assert unknown.status_code == 422
    assert unknown.json()["errors"][0]["code"] == "unknown_scope"
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("ApiToken", {"name": "second"}),
        ("ServiceAccount", {"name": "robot"}),
        ("Membership", {"username": "somebody", "role": "USER"}),
    ],
)
def test_a_token_without_administer_makes_no_tokens_members_or_accounts(
    admin: APIClient, path: str, body: dict[str, Any]
) -> None:
    get_user_model().objects.create_user("somebody")
    scopes = sorted(set(SCOPES) - {"administer"})
    narrow = _with(_make(admin, scopes=scopes)["token"])
    wide = _with(_make(admin, scopes=["administer"])["token"])

    assert narrow.post(f"/v1/{path}", body, format="json").status_code == 403
    assert wide.post(f"/v1/{path}", body, format="json").status_code == 201


def test_a_token_made_with_a_token_has_no_more_than_that(admin: APIClient) -> None:
    client = _with(_make(admin, scopes=["administer", "view"])["token"])

    assert _make(client)["scopes"] == ["administer", "view"]
    more = client.post("/v1/ApiToken", {"name": "x", "scopes": ["author"]}, format="json")
    assert more.status_code == 403


def test_a_token_changes_itself_only_with_administer(author: APIClient) -> None:
    made = _make(author)
    client = _with(made["token"])
    address = f"/v1/ApiToken/{made['id']}"

    assert client.get(address).status_code == 200
    assert client.patch(address, {"name": "x"}, format="json").status_code == 403
    assert client.delete(address).status_code == 403


def test_a_time_can_be_shortened_and_never_made_longer(author: APIClient) -> None:
    made = _make(author)
    address = f"/v1/ApiToken/{made['id']}"
    soon = (timezone.now() + timedelta(days=2)).isoformat()
    late = (timezone.now() + timedelta(days=100)).isoformat()
    past = (timezone.now() - timedelta(days=1)).isoformat()

    assert author.patch(address, {"expiresAt": late}, format="json").status_code == 422
    assert author.patch(address, {"expiresAt": past}, format="json").status_code == 422
    changed = author.patch(address, {"expiresAt": soon, "name": "short"}, format="json")

    assert changed.status_code == 200, changed.content
    assert changed.json()["name"] == "short"
    row = Activity.objects.get(action="api_token.update")
    assert row.before["name"] == "ci"  # type: ignore[index]
    assert row.after["name"] == "short"  # type: ignore[index]


def test_a_token_holds_a_year_at_most(author: APIClient) -> None:
    far = (timezone.now() + timedelta(days=366)).isoformat()

    answer = author.post("/v1/ApiToken", {"name": "x", "expiresAt": far}, format="json")

    assert answer.status_code == 422
    assert "365 days" in answer.json()["errors"][0]["message"]


def test_revoking_stops_a_token_at_once_and_is_kept_once(author: APIClient) -> None:
    made = _make(author)
    address = f"/v1/ApiToken/{made['id']}"

    assert author.delete(address).status_code == 204
    assert author.delete(address).status_code == 204

    assert _with(made["token"]).get("/v1/Me").json()["code"] == "token_revoked"
    assert Activity.objects.filter(action="api_token.revoke").count() == 1
    changed = author.patch(address, {"name": "x"}, format="json")
    assert (changed.status_code, changed.json()["state"]) == (409, "REVOKED")


def test_everybody_sees_their_own_tokens_and_an_administrator_all_of_the_workspace(
    author: APIClient, admin: APIClient, member: Members, client_of: Clients, elsewhere: Workspace
) -> None:
    made = _make(author)
    own = _make(admin)
    other = client_of(member("ADMIN", elsewhere))
    _make(other)

    assert [row["id"] for row in author.get("/v1/ApiToken").json()] == [made["id"]]
    assert [row["id"] for row in admin.get("/v1/ApiToken").json()] == [own["id"], made["id"]]
    assert author.get(f"/v1/ApiToken/{own['id']}").status_code == 404
    assert other.delete(f"/v1/ApiToken/{made['id']}").status_code == 404
    assert admin.delete(f"/v1/ApiToken/{made['id']}").status_code == 204


def test_a_member_taken_out_has_nothing_left_in_a_token(
    author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    client = _with(_make(author)["token"])
    address = f"/v1/Workflow/{greeting['id']}"
    assert client.get(address).status_code == 200

    workspace.memberships.all().delete()

    assert client.get(address).status_code == 404
    assert client.get("/v1/ApiToken").json() == []


def test_a_member_who_comes_back_does_not_find_the_old_tokens(
    author: APIClient, admin: APIClient
) -> None:
    client = _with(_make(author)["token"])
    row = Membership.objects.get(user__username="workflow-default")
    admin.delete(f"/v1/Membership/{row.pk}")
    body = {"userId": row.user_id, "role": "WORKFLOW"}
    assert admin.post("/v1/Membership", body, format="json").status_code == 201

    assert client.get("/v1/Me").json()["code"] == "token_revoked"
    assert Activity.objects.get(action="membership.delete").before["tokens"] == 1  # type: ignore[index]


def test_a_member_who_may_nothing_makes_no_token(member: Members, client_of: Clients) -> None:
    answer = client_of(member("USER")).post("/v1/ApiToken", {"name": "x"}, format="json")

    assert answer.status_code == 403
    assert "no permissions in workspace" in answer.json()["detail"]


def test_a_superusers_token_rules_its_workspace_and_not_the_installation(
    client_of: Clients, workspace: Workspace, elsewhere: Workspace
) -> None:
    root = client_of(get_user_model().objects.create_superuser("root"))
    client = _with(_make(root, workspaceId=str(workspace.pk))["token"])

    assert client.post("/v1/Workflow", {"name": "w"}, format="json").status_code == 201
    assert [row["slug"] for row in client.get("/v1/Workspace").json()] == ["default"]
    body = {"name": "more", "tierId": str(workspace.tier_id)}
    assert client.post("/v1/Workspace", body, format="json").status_code == 403
    assert client.delete(f"/v1/Workspace/{workspace.pk}").status_code == 403
    assert client.post("/v1/Tier", {"name": "t"}, format="json").status_code == 403


def test_me_says_who_where_and_with_what(author: APIClient, workspace: Workspace) -> None:
    made = _make(author, scopes=["view", "bulk"])

    plain = author.get("/v1/Me").json()
    limited = _with(made["token"]).get("/v1/Me").json()

    assert plain["username"] == "workflow-default"
    assert plain["token"] is None
    assert plain["workspaces"][0]["role"] == "WORKFLOW"
    assert "reveal" not in plain["workspaces"][0]["permissions"]
    assert limited["workspaces"][0]["permissions"] == ["bulk"]
    assert limited["token"] == {
        "id": made["id"],
        "name": "ci",
        "workspaceId": str(workspace.pk),
        "scopes": ["bulk", "view"],
        "expiresAt": made["expiresAt"],
    }


def test_a_token_asked_for_twice_with_one_key_is_made_once(author: APIClient) -> None:
    body = {"name": "once"}

    first, again = (
        author.post("/v1/ApiToken", body, format="json", headers={"Idempotency-Key": "k"})
        for _ in range(2)
    )

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["token"] == again.json()["token"]
    assert ApiToken.objects.count() == 1
