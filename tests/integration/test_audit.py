"""The audit trail is append-only; sign-ins and every form of the admin write it."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client, RequestFactory
from django.urls import reverse
from rest_framework.test import APIClient

from executions.access.actor import Actor, record
from executions.admin.base import AuditedAdmin
from executions.models import Activity, Workspace
from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _fresh_cache(static_files: None) -> None:
    cache.clear()


@pytest.fixture
def boss() -> Any:
    return User.objects.create(username="op", is_staff=True, is_superuser=True)


@pytest.fixture
def op(client: Client, boss: Any) -> Client:
    client.force_login(boss)
    return client


def _row(**values: Any) -> Activity:
    kept = {"workspace_id": None, "object_type": "Thing", "object_id": "1"} | values
    return Activity.objects.get(pk=record(Actor(None, "ada"), "thing.change", **kept))


@pytest.mark.parametrize(
    "change",
    [
        lambda row: Activity.objects.filter(pk=row.pk).update(reason="nothing"),
        lambda row: Activity.objects.filter(pk=row.pk).delete(),
        lambda row: row.delete(),
        lambda row: row.save(update_fields=["reason"]),
        lambda row: _sql("UPDATE executions_activity SET actor_name = 'eve'"),
        lambda row: _sql("DELETE FROM executions_activity"),
    ],
)
def test_the_database_refuses_to_change_or_delete_a_row(change: Any) -> None:
    row = _row(reason="because")

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change(row)

    row.refresh_from_db()
    assert (row.reason, row.actor_name) == ("because", "ada")


def test_nobody_changes_a_row_in_the_admin(op: Client) -> None:
    row = _row()
    page = reverse("admin:executions_activity_change", args=[row.pk])

    assert op.post(page, {"reason": "nothing"}).status_code == 403
    gone = reverse("admin:executions_activity_delete", args=[row.pk])
    assert op.post(gone, {"post": "yes"}).status_code == 403
    assert op.get(reverse("admin:executions_activity_add")).status_code == 403


def test_what_an_account_did_stays_when_the_account_is_gone() -> None:
    user = get_user_model().objects.create_user("ada")
    actor = Actor.of(user, "api")
    line = record(actor, "x.y", workspace_id=None, object_type="Thing", object_id="1")

    user.delete()

    kept = Activity.objects.get(pk=line)
    assert (kept.actor_id, kept.actor_name) == (actor.user_id, "ada")


def test_a_workspace_with_a_trail_cannot_be_deleted() -> None:
    workspace = rows.workspace("audited")
    _row(workspace_id=workspace.pk)

    with pytest.raises(DatabaseError), transaction.atomic():
        workspace.delete()

    assert Workspace.objects.filter(pk=workspace.pk).exists()


def test_people_are_switched_off_and_not_deleted(op: Client) -> None:
    ada = User.objects.create(username="ada")

    answer = op.post(reverse("admin:auth_user_delete", args=[ada.pk]), {"post": "yes"})

    assert answer.status_code == 403
    assert User.objects.filter(pk=ada.pk).exists()


def test_signing_in_and_out_of_the_admin_is_recorded(client: Client) -> None:
    User.objects.create_user("ada", password=PASSWORD, is_staff=True)
    body = {"username": "ada", "password": PASSWORD}

    assert client.post("/admin/login/", body).status_code == 302
    client.post("/admin/logout/")

    found = Activity.objects.order_by("id").values_list("action", "actor_name", "via", "address")
    assert list(found) == [
        ("account.sign_in", "ada", "admin", "127.0.0.1"),
        ("account.sign_out", "ada", "admin", "127.0.0.1"),
    ]


@pytest.mark.parametrize("address", ["/admin/login/", "/v1/auth/token"])
@pytest.mark.parametrize("name", ["ada", "nobody", "größe\N{PILE OF POO}"])
def test_a_failed_sign_in_is_recorded_by_name_and_address_without_the_password(
    address: str, name: str
) -> None:
    User.objects.create_user("ada", password=PASSWORD, is_staff=True)
    body = {"username": name, "password": "wrong horse"}

    client = APIClient() if address.startswith("/v1") else Client()
    client.post(address, body, **({"format": "json"} if address.startswith("/v1") else {}))

    row = Activity.objects.get()
    assert (row.action, row.actor_id, row.actor_name) == ("account.sign_in_failed", None, name)
    assert row.address == "127.0.0.1"
    assert "wrong horse" not in json.dumps([row.details, row.before, row.after, row.reason])


def test_a_token_for_a_password_is_recorded() -> None:
    user = User.objects.create_user("ada", password=PASSWORD)

    body = {"username": "ada", "password": PASSWORD}
    assert APIClient().post("/v1/auth/token", body, format="json").status_code == 200

    row = Activity.objects.get()
    assert (row.action, row.actor_id, row.via) == ("account.token", user.pk, "api")


def test_a_changed_user_is_recorded_with_what_was_and_what_is(op: Client) -> None:
    group = Group.objects.create(name="buyers")
    ada = User.objects.create_user("ada", email="ada@old.example", password=PASSWORD)
    page = reverse("admin:auth_user_change", args=[ada.pk])
    form = op.get(page).context["adminform"].form
    body = {
        name: form[name].value()
        for name in form.fields
        if name not in ("password", "last_login", "date_joined") and form[name].value()
    }
    body |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}

    answer = op.post(page, body | {"email": "ada@new.example", "groups": [group.pk]})

    assert answer.status_code == 302, answer.content
    row = Activity.objects.get(action="user.update")
    assert (row.actor_name, row.via, row.object_type, row.object_id) == (
        "op", "admin", "User", str(ada.pk)
    )  # fmt: skip
    assert row.before is not None
    assert row.after is not None
    assert (row.before["email"], row.after["email"]) == ("ada@old.example", "ada@new.example")
    assert (row.before["groups"], row.after["groups"]) == ([], ["buyers"])


def test_an_added_user_and_a_password_set_for_one_are_recorded_without_it(op: Client) -> None:
    new = {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
    assert op.post(reverse("admin:auth_user_add"), new).status_code == 302
    eve = User.objects.get(username="eve")
    again = {"password1": f"{PASSWORD}!", "password2": f"{PASSWORD}!"}
    page = reverse("admin:auth_user_password_change", args=[eve.pk])
    assert op.post(page, again).status_code == 302

    made, changed = Activity.objects.filter(object_type="User", object_id=eve.pk).order_by("id")
    assert (made.action, made.after["username"]) == ("user.create", "eve")  # type: ignore[index]
    assert changed.action == "user.password"
    for row in (made, changed):
        assert PASSWORD not in json.dumps([row.before, row.after, row.details])


def test_a_password_that_somebody_changes_for_themselves_is_recorded(client: Client) -> None:
    ada = User.objects.create_superuser("ada", password=PASSWORD)
    client.force_login(ada)
    new = {"old_password": PASSWORD, "new_password1": f"{PASSWORD}!"}
    address = reverse("admin:password_change")

    refused = client.post(address, new | {"new_password2": "other"})
    done = client.post(address, new | {"new_password2": f"{PASSWORD}!"})

    assert (refused.status_code, done.status_code) == (200, 302)
    row = Activity.objects.get(action="user.password")
    assert (row.actor_name, row.object_id, row.via) == ("ada", str(ada.pk), "admin")
    assert row.address == "127.0.0.1"


def test_the_first_administrator_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_ADMIN_PASSWORD", PASSWORD)
    rows.workspace()

    call_command("ensure_admin", username="first", stdout=StringIO())
    call_command("ensure_admin", username="first", stdout=StringIO())

    row = Activity.objects.get(action="user.create")
    assert (row.via, row.after) == ("command", {"username": "first", "superuser": True})


def test_a_deleted_group_is_recorded_one_by_one_and_by_the_list(op: Client) -> None:
    first, second = (Group.objects.create(name=name) for name in ("first", "second"))

    op.post(reverse("admin:auth_group_delete", args=[first.pk]), {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [str(second.pk)], "post": "yes"}
    op.post(reverse("admin:auth_group_changelist"), chosen)

    gone = Activity.objects.filter(action="group.delete").order_by("id")
    assert [row.before["name"] for row in gone] == ["first", "second"]  # type: ignore[index]


def test_every_form_of_the_admin_is_recorded(boss: Any) -> None:
    request = RequestFactory().get("/admin/")
    request.user = boss
    silent = [
        model._meta.label
        for model, site in admin.site._registry.items()
        if (site.has_add_permission(request) or site.has_change_permission(request))
        and not isinstance(site, AuditedAdmin)
    ]

    assert silent == []


def test_a_command_writes_the_trail_as_json_lines(tmp_path: Path) -> None:
    workspace = rows.workspace("audited")
    _row(workspace_id=workspace.pk)
    _row()
    told = StringIO()

    call_command("export_activity", output=str(tmp_path / "all.jsonl"), stdout=told)
    call_command("export_activity", workspace="audited", output=str(tmp_path / "one.jsonl"))
    call_command("export_activity", until="2020-01-01", output=str(tmp_path / "none.jsonl"))
    on_stdout = StringIO()
    call_command("export_activity", since="2020-01-01T00:00:00Z", stdout=on_stdout)

    lines = {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in tmp_path.iterdir()
    }
    assert [row["workspaceId"] for row in lines["all"]] == [str(workspace.pk), None]
    assert [row["workspaceId"] for row in lines["one"]][:1] == [str(workspace.pk)]
    assert lines["none"] == []
    assert len(on_stdout.getvalue().splitlines()) == 5
    exported = Activity.objects.filter(action="activity.export").first()
    assert exported is not None
    assert (exported.via, exported.actor_id) == ("command", None)
    assert (tmp_path / "all.jsonl").stat().st_mode & 0o077 == 0


def _trail(workspace: Workspace) -> None:
    for name, address in (("ada", "10.0.0.7"), ("eve", "10.0.0.8")):
        record(
            Actor(None, name, "api", address),
            "workflow.update",
            workspace_id=workspace.pk,
            object_type="Workflow",
            object_id=rows.workflow(name, owner=workspace).pk,
            before={"enabled": True, "name": "old"},
            after={"enabled": False, "name": "new"},
        )


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 2),
        ("who=ada", 1),
        ("who=nobody", 0),
        ("address=10.0.0.8", 1),
        ("address=nowhere", 0),
        ("did=workflow.", 2),
        ("did=run.", 0),
        ("object=Workflow", 2),
        ("object=Run", 0),
        ("created_at_from=2026-01-01", 2),
        ("created_at_to=2026-01-01", 0),
        ("created_at_to=2999-01-01", 2),
        ("created_at_from=soon", 2),
    ],
)
def test_the_list_and_its_export_are_narrowed_alike(op: Client, query: str, count: int) -> None:
    _trail(rows.workspace("audited"))
    address = reverse("admin:executions_activity_changelist")

    listed = op.get(f"{address}?q=workflow.update&{query}")
    exported = op.post(f"{address}export/?q=workflow.update&{query}")

    assert listed.context["cl"].result_count == count
    lines = b"".join(exported.streaming_content).splitlines()  # type: ignore[attr-defined]
    assert len(lines) == count
    assert Activity.objects.filter(action="activity.export", actor_name="op", via="admin").exists()


def test_the_list_offers_its_export_with_its_filters_and_get_exports_nothing(op: Client) -> None:
    address = reverse("admin:executions_activity_changelist")

    page = op.get(f"{address}?who=ada").content.decode()

    assert f'action="{address}export/?who=ada"' in page
    assert op.get(f"{address}export/").status_code == 405
    assert not Activity.objects.filter(action="activity.export").exists()


def test_an_export_with_an_invalid_filter_is_refused(op: Client) -> None:
    address = reverse("admin:executions_activity_changelist")

    assert op.post(f"{address}export/?nonsense=1").status_code == 400
    assert not Activity.objects.filter(action="activity.export").exists()


def test_a_page_shows_what_changed_and_leads_to_the_object(op: Client) -> None:
    _trail(rows.workspace("audited"))
    row = Activity.objects.filter(actor_name="ada").get()

    answer = op.get(reverse("admin:executions_activity_change", args=[row.pk]))

    changed = answer.context["page"].sections[0]
    assert list(changed.rows) == [["enabled", "true", "false"], ["name", "old", "new"]]
    assert reverse("admin:executions_workflow_change", args=[row.object_id]) in (
        answer.content.decode()
    )


def test_the_trail_is_for_administrators_and_each_page_says_who_did_what(
    op: Client, django_user_model: Any
) -> None:
    workflow = rows.workflow()
    entry = rows.failed_order(workflow)
    author = django_user_model.objects.create(username="author", is_staff=True)
    workflow.workspace.memberships.create(user=author, role="WORKFLOW")
    client = Client()
    client.force_login(author)
    record(
        Actor(None, "somebody"),
        "execution.cancel",
        workspace_id=workflow.workspace_id,
        object_type="WorkflowExecution",
        object_id=entry.execution_id,
    )
    address = reverse("admin:executions_activity_changelist")

    assert client.get(address).status_code == 403
    assert client.post(f"{address}export/").status_code == 403
    page = reverse("admin:executions_workflowexecution_change", args=[entry.execution_id])
    assert "somebody" in client.get(page).content.decode()
    workflow.workspace.memberships.update(role="ADMIN")
    assert client.get(address).context["cl"].result_count == 1


def _sql(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text)
