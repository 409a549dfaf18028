"""Credentials through the API: values are accepted, and only names are returned."""

import json
import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from executions import credentials
from executions.access import TokenLimits
from executions.models import Activity, Credential, Membership, Workspace

pytestmark = pytest.mark.django_db
SECRET = "canary-5d1f0c"
SHOP: dict[str, Any] = {"name": "shop", "fields": {"value": SECRET}, "hosts": ["*"]}


@pytest.fixture
def shop(admin: APIClient) -> dict[str, Any]:
    return keep(admin)


def keep(client: APIClient, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/Credential", SHOP | more, format="json")
    assert answer.status_code == 201, answer.content
    shown: dict[str, Any] = answer.json()
    return shown


def at(shop: dict[str, Any]) -> str:
    return f"/v1/Credential/{shop['id']}"


def value_of(shop: dict[str, Any]) -> dict[str, str]:
    return credentials.values_of(shop["workspaceId"], [shop["name"]])[shop["name"]]


def test_a_credential_is_kept_and_shown_without_its_value(
    admin: APIClient, workspace: Workspace
) -> None:
    made = admin.post("/v1/Credential", SHOP | {"description": "Of the shop."}, format="json")
    shown = admin.get(made.headers["Location"])

    assert made.status_code == 201
    assert made.headers["ETag"] == shown.headers["ETag"] == '"1"'
    assert shown.json() == made.json()
    assert shown.json() | {"id": 0, "createdAt": 0, "updatedAt": 0} == {
        "id": 0,
        "workspaceId": str(workspace.pk),
        "name": "shop",
        "type": "secret",
        "description": "Of the shop.",
        "fields": ["value"],
        "hosts": ["*"],
        "modules": ["*"],
        "workflows": ["*"],
        "remote": False,
        "createdBy": "admin-default",
        "createdAt": 0,
        "updatedAt": 0,
        "lastUsedAt": None,
    }
    assert value_of(shown.json()) == {"value": SECRET}
    step = credentials.UsingStep(
        workspace.pk, uuid4(), uuid4(), uuid4(), "ask.main", 1, "http.request"
    )
    credentials.opened_for(step, ["shop"])
    assert admin.get(made.headers["Location"]).json()["lastUsedAt"]


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("basic", {"username": "teller", "password": "hunter2"}),
        ("bearer", {"token": "t" * 65_536}),
        ("smtp", {"url": "smtp://me:secret@mail.example.org"}),
        ("custom", {"key_id": "AKIA123", "key": "ü ≠ \n'\""}),
    ],
)
def test_every_type_keeps_its_fields(admin: APIClient, type_: str, fields: dict[str, str]) -> None:
    shown = keep(admin, type=type_, fields=fields)

    assert shown["fields"] == sorted(fields)
    assert value_of(shown) == fields


def test_the_list_has_filters_pages_and_no_query_a_row(admin: APIClient) -> None:
    for name in ("a", "b", "c"):
        keep(admin, name=name)
    keep(admin, name="d", type="bearer", fields={"token": "hunter2"})

    assert [row["name"] for row in admin.get("/v1/Credential").json()] == ["d", "c", "b", "a"]
    assert [row["name"] for row in admin.get("/v1/Credential?type=bearer").json()] == ["d"]
    assert [row["name"] for row in admin.get("/v1/Credential?name=b").json()] == ["b"]
    first = admin.get("/v1/Credential?limit=3")
    second = admin.get(first.headers["Link"].partition("<")[2].partition(">")[0])
    assert [row["name"] for row in second.json()] == ["a"]
    with CaptureQueriesContext(connection) as few:
        admin.get("/v1/Credential?limit=1")
    with CaptureQueriesContext(connection) as many:
        admin.get("/v1/Credential")
    assert len(few) == len(many)
    assert not [query for query in many if '"sealed"' in query["sql"]]


def test_a_change_sets_what_it_names_and_counts(admin: APIClient) -> None:
    shop = keep(admin, type="basic", fields={"username": "teller", "password": "hunter2"})

    changed = admin.patch(
        at(shop), {"fields": {"password": "correct horse"}, "description": "New."}, format="json"
    )

    assert changed.status_code == 200
    assert changed.headers["ETag"] == '"2"'
    assert changed.json()["description"] == "New."
    assert value_of(shop) == {"username": "teller", "password": "correct horse"}


def test_a_change_of_what_somebody_else_changed_is_refused(
    admin: APIClient, shop: dict[str, Any]
) -> None:
    first = admin.patch(at(shop), {"description": "a"}, format="json", headers={"if-match": '"1"'})
    late = admin.patch(
        at(shop), {"fields": {"value": "lost it"}}, format="json", headers={"if-match": '"1"'}
    )
    gone = admin.delete(at(shop), headers={"if-match": '"1"'})

    assert (first.status_code, late.status_code, gone.status_code) == (200, 412, 412)
    assert value_of(shop) == {"value": SECRET}
    assert admin.delete(at(shop), headers={"if-match": '"2"'}).status_code == 204


def test_a_name_is_taken_once(admin: APIClient, shop: dict[str, Any]) -> None:
    again = admin.post("/v1/Credential", SHOP, format="json")

    assert again.status_code == 409
    assert again.json()["code"] == "name_taken"


def test_one_that_a_published_workflow_names_is_not_deleted(
    admin: APIClient, shop: dict[str, Any], greeting: dict[str, Any]
) -> None:
    names_it(greeting)

    refused = admin.delete(at(shop))

    assert refused.status_code == 409
    assert refused.json()["code"] == "credential_in_use"
    assert "greeting" in refused.json()["detail"]
    assert [p["path"] for p in refused.json()["errors"]] == [f"/v1/Workflow/{greeting['id']}"]
    assert admin.delete(f"/v1/Workflow/{greeting['id']}").status_code == 204
    assert admin.delete(at(shop)).status_code == 204
    assert admin.get(at(shop)).status_code == 404


def names_it(workflow: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE executions_workflowversion SET definition = definition || "
            """'{"note": "{{ secrets.shop }}"}' WHERE workflow_id = %s""",
            [workflow["id"]],
        )


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, {("name", "required"), ("fields", "required")}),
        (SHOP | {"nonsense": 1}, {("nonsense", "unknown_field")}),
        (SHOP | {"name": 5}, {("name", "invalid")}),
        (SHOP | {"name": "Shop"}, {("name", "bad_name")}),
        (SHOP | {"name": "x" * 81}, {("name", "max_length")}),
        (SHOP | {"type": "nonsense"}, {("type", "unknown_type")}),
        (SHOP | {"type": ["secret"]}, {("type", "invalid")}),
        (SHOP | {"workspaceId": 5}, {("workspaceId", "invalid")}),
        (SHOP | {"description": None}, {("description", "null")}),
        (SHOP | {"fields": SECRET}, {("fields", "object")}),
        (SHOP | {"fields": [SECRET]}, {("fields", "object")}),
        (SHOP | {"fields": {}}, {("fields.value", "required")}),
        (SHOP | {"fields": {"value": 12345678}}, {("fields.value", "not_text")}),
        (SHOP | {"fields": {"value": {"a": SECRET}}}, {("fields.value", "not_text")}),
        (SHOP | {"fields": {"value": "12345"}}, {("fields.value", "too_short")}),
        (SHOP | {"fields": {"value": "x" * 65_537}}, {("fields.value", "too_long")}),
        (
            SHOP | {"fields": {"valeu": SECRET}},
            {("fields.value", "required"), ("fields.valeu", "unknown_field")},
        ),
        (SHOP | {"type": "custom", "fields": {"": SECRET}}, {("fields.", "bad_name")}),
        (
            SHOP | {"type": "custom", "fields": {f"f{i}": SECRET for i in range(5_000)}},
            {("fields", "count")},
        ),
    ],
)
def test_bad_input_is_refused_by_name_and_keeps_nothing(
    admin: APIClient, body: dict[str, Any], problems: set[tuple[str, str]]
) -> None:
    answer = admin.post("/v1/Credential", body, format="json")

    assert answer.status_code == 422
    assert {(p["path"], p["code"]) for p in answer.json()["errors"]} == problems
    assert SECRET not in answer.content.decode()
    assert not Credential.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "other"},
        {"type": "bearer"},
        {"fields": None},
        {"fields": {"value": None}},
        {"fields": {"other": SECRET}},
        {"fields": {"value": "a"}},
    ],
)
def test_a_bad_change_is_refused_and_changes_nothing(
    admin: APIClient, shop: dict[str, Any], body: dict[str, Any]
) -> None:
    answer = admin.patch(at(shop), body, format="json")

    assert answer.status_code == 422
    assert answer.json()["errors"]
    assert admin.get(at(shop)).headers["ETag"] == '"1"'
    assert value_of(shop) == {"value": SECRET}


def test_text_that_cannot_be_stored_is_refused(admin: APIClient) -> None:
    for bad in (r"\u0000secret", r"\ud800secret"):
        text = '{"name": "shop", "fields": {"value": "' + bad + '"}}'
        answer = admin.post("/v1/Credential", text, content_type="application/json")
        assert answer.status_code == 422, answer.content
    assert not Credential.objects.exists()


def test_ids_that_are_nobodys_are_404(admin: APIClient) -> None:
    nobody = f"/v1/Credential/{uuid4()}"

    assert admin.get(nobody).status_code == 404
    assert admin.patch(nobody, {"description": "x"}, format="json").status_code == 404
    assert admin.delete(nobody).status_code == 404


def test_an_author_sees_names_and_keeps_nothing(author: APIClient, shop: dict[str, Any]) -> None:
    assert [row["name"] for row in author.get("/v1/Credential").json()] == ["shop"]
    assert author.get(at(shop)).json()["fields"] == ["value"]
    refused = author.post("/v1/Credential", SHOP | {"name": "mine"}, format="json")
    assert refused.status_code == 403
    assert "configure" in refused.json()["detail"]


def test_an_author_with_the_permission_keeps_some(
    member: Callable[..., Any], client_of: Callable[[Any], APIClient], workspace: Workspace
) -> None:
    user = member("WORKFLOW")
    Membership.objects.filter(user=user).update(permissions=["configure"])

    keep(client_of(user))

    assert Credential.objects.get().created_by == user.username


@pytest.mark.parametrize(
    ("scopes", "listed", "kept"),
    [({"view"}, 0, 403), ({"author"}, 1, 403), ({"view", "configure"}, 1, 201)],
)
def test_a_token_leaves_what_its_scopes_say(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    workspace: Workspace,
    shop: dict[str, Any],
    scopes: set[str],
    listed: int,
    kept: int,
) -> None:
    user = member("ADMIN", name="second")
    user.token_limits = TokenLimits(workspace.pk, frozenset(scopes))
    client = client_of(user)

    assert len(client.get("/v1/Credential").json()) == listed
    answer = client.post("/v1/Credential", SHOP | {"name": "second"}, format="json")
    assert answer.status_code == kept


def test_nobody_gets_nothing(stranger: APIClient, shop: dict[str, Any]) -> None:
    assert stranger.get("/v1/Credential").status_code == 401
    assert stranger.post("/v1/Credential", SHOP, format="json").status_code == 401
    assert stranger.get(at(shop)).status_code == 401


def test_without_an_installation_key_the_answer_says_what_is_missing(
    admin: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_KEY")

    answer = admin.post("/v1/Credential", SHOP, format="json")

    assert answer.status_code == 503
    assert answer.json()["code"] == "no_installation_key"
    assert "VALKYR_KEY_FILE" in answer.json()["detail"]
    assert not Credential.objects.exists()


def test_no_answer_no_log_line_and_no_audit_row_holds_the_value(
    admin: APIClient, greeting: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        shop = keep(admin)
        answers = [
            admin.post("/v1/Credential", SHOP, format="json"),
            admin.post("/v1/Credential", {"name": "n", "fields": [SECRET]}, format="json"),
            admin.post(
                "/v1/Credential", '{"fields": "' + SECRET + '",}', content_type="application/json"
            ),
            admin.patch(at(shop), {"fields": {"value": SECRET + "2"}}, format="json"),
            admin.patch(at(shop), {"fields": {"value": [SECRET]}}, format="json"),
            admin.get("/v1/Credential"),
            admin.get(at(shop)),
        ]
        value_of(shop)
        names_it(greeting)
        answers.append(admin.delete(at(shop)))

    told = [answer.content.decode() for answer in answers]
    told += [json.dumps(list(Activity.objects.values()), default=str), caplog.text]
    assert len(told) == 10
    assert not [text for text in told if SECRET in text]


def test_hosts_are_suggested_by_the_type_or_have_to_be_named(admin: APIClient) -> None:
    key = {"name": "pay", "type": "stripe", "fields": {"api_key": "sk_live_123"}}
    token = {"name": "bank", "type": "bearer", "fields": {"token": SECRET}}

    made = admin.post("/v1/Credential", key, format="json")
    refused = admin.post("/v1/Credential", token, format="json")
    chosen = admin.post("/v1/Credential", token | {"hosts": ["*"]}, format="json")

    assert made.status_code == 201, made.content
    assert (made.json()["hosts"], made.json()["modules"]) == (["api.stripe.com"], ["stripe.*"])
    assert refused.status_code == 422
    [problem] = refused.json()["errors"]
    assert (problem["path"], problem["code"]) == ("hosts", "required")
    assert '["api.example.com"]' in problem["message"]
    assert '["*"] is any host' in problem["message"]
    assert chosen.status_code == 201


@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ({"hosts": ["https://a.example/"]}, {"hosts[0]"}),
        ({"hosts": []}, {"hosts"}),
        ({"hosts": "a.example"}, {"hosts"}),
        ({"hosts": [1]}, {"hosts"}),
        ({"hosts": ["*.com"], "modules": ["no module"]}, {"hosts[0]", "modules[0]"}),
        ({"modules": []}, {"modules"}),
        ({"workflows": ["w"]}, {"workflows[0]"}),
        ({"workflows": [str(UUID(int=1))]}, {"workflows[0]"}),
        ({"hosts": ["a.example"] * 101}, {"hosts"}),
        ({"remote": "yes"}, {"remote"}),
    ],
)
def test_a_boundary_that_cannot_be_is_refused_with_every_problem(
    admin: APIClient, shop: dict[str, Any], more: dict[str, Any], paths: set[str]
) -> None:
    made = admin.post("/v1/Credential", SHOP | {"name": "n"} | more, format="json")
    changed = admin.patch(at(shop), more, format="json")

    for answer in (made, changed):
        assert answer.status_code == 422, answer.content
        found = {problem["path"].partition(".")[0] for problem in answer.json()["errors"]}
        assert {path.partition("[")[0] for path in found} == {p.partition("[")[0] for p in paths}
    assert Credential.objects.get().hosts == ["*"]


def test_a_boundary_is_changed_and_the_trail_says_from_what_to_what(
    admin: APIClient, shop: dict[str, Any]
) -> None:
    more = {"hosts": ["API.example.com"], "modules": ["http.*"], "remote": True}

    changed = admin.patch(at(shop), more, format="json")

    assert changed.status_code == 200, changed.content
    assert changed.json()["hosts"] == ["api.example.com"]
    assert value_of(shop) == {"value": SECRET}
    line = Activity.objects.get(action="credential.update")
    assert line.before["hosts"] == ["*"]
    assert line.after == {
        "fields": ["value"],
        "hosts": ["api.example.com"],
        "modules": ["http.*"],
        "workflows": ["*"],
        "remote": True,
    }


def test_suggested_hosts_follow_a_new_url_and_named_ones_stay(admin: APIClient) -> None:
    first, second = (f"postgresql://u:password@{name}.example.com/db" for name in ("a", "b"))
    made = keep(admin, type="database", fields={"url": first}, hosts=["a.example.com"])

    moved = admin.patch(at(made), {"fields": {"url": second}}, format="json").json()
    named = admin.patch(at(made), {"hosts": ["c.example.com"]}, format="json").json()
    stays = admin.patch(at(made), {"fields": {"url": first}}, format="json").json()

    assert [one["hosts"] for one in (moved, named, stays)] == [
        ["b.example.com"], ["c.example.com"], ["c.example.com"],
    ]  # fmt: skip


def test_an_author_changes_no_boundary(author: APIClient, shop: dict[str, Any]) -> None:
    assert author.patch(at(shop), {"hosts": ["evil.example"]}, format="json").status_code == 403
    assert author.get(at(shop)).json()["hosts"] == ["*"]
