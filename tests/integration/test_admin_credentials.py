"""Credentials in the admin: they are entered, never shown, and deleted only when nothing names
them.
"""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from executions import credentials
from executions.access.actor import Actor
from executions.models import Activity, Credential, CredentialUse, Membership, Workspace
from tests.support import admin_rows as rows
from tests.support.workflows import default_workspace

pytestmark = pytest.mark.django_db
LIST = "/admin/executions/credential/"
ADD = f"{LIST}add/"
SECRET = "canary-5d1f0c"
ANN = Actor(None, "ann", "test")


@pytest.fixture(autouse=True)
def _static(static_files: None) -> None: ...


@pytest.fixture
def workspace() -> Workspace:
    return default_workspace()


def client_of(users: Any, workspace: Workspace, role: str, *permissions: str) -> Client:
    user = users.objects.create(username=f"ada-{role}", is_staff=True)
    Membership.objects.create(
        user=user, workspace=workspace, role=role, permissions=list(permissions)
    )
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def op(django_user_model: Any, workspace: Workspace) -> Client:
    return client_of(django_user_model, workspace, "ADMIN")


def made(workspace: Workspace, kind: str = "secret", **fields: str) -> Credential:
    return credentials.create(
        workspace,
        name="shop",
        type=kind,
        fields=fields or {"value": SECRET},
        hosts=["*"],
        actor=ANN,
    )


def value_of(credential: Credential) -> dict[str, str]:
    return credentials.values_of(credential.workspace_id, [credential.name])[credential.name]


def change(credential: Credential) -> str:
    return f"{LIST}{credential.pk}/change/"


def test_a_secret_is_typed_in_and_never_shown(op: Client, workspace: Workspace) -> None:
    form = op.get(ADD).content.decode()
    assert 'type="password" name="value_value"' in form

    typed = {"workspace": workspace.pk, "name": "shop", "value_value": SECRET, "hosts": "*"}
    answer = op.post(ADD, typed)

    assert answer.status_code == 302, answer.context["errors"]
    credential = Credential.objects.get()
    assert (credential.name, credential.type) == ("shop", "secret")
    assert value_of(credential) == {"value": SECRET}
    for page in (LIST, change(credential)):
        shown = op.get(page).content.decode()
        assert "shop" in shown
        assert SECRET not in shown
    line = Activity.objects.get(action="credential.create")
    assert (line.actor_name, line.via) == ("ada-ADMIN", "admin")
    assert not Activity.objects.exclude(pk=line.pk).filter(object_type="Credential").exists()


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("basic", ["username", "password"]),
        ("bearer", ["token"]),
        ("smtp", ["url"]),
    ],
)
def test_each_type_has_a_form_of_its_own(
    op: Client, workspace: Workspace, kind: str, names: list[str]
) -> None:
    address = f"{ADD}?type={kind}"
    shown = op.get(address).content.decode()
    assert [name for name in names if f'name="value_{name}"' not in shown] == []

    typed = {f"value_{name}": f" of {name} " for name in names}
    place = {"workspace": workspace.pk, "name": "shop", "hosts": "api.example.com"}
    answer = op.post(address, place | typed)

    assert answer.status_code == 302, answer.context["errors"]
    assert value_of(Credential.objects.get()) == {name: f" of {name} " for name in names}


def test_fields_of_ones_own_are_added_changed_and_taken_away(
    op: Client, workspace: Workspace
) -> None:
    rows_ = {"new_name_1": "key_id", "new_value_1": "AKIA123", "new_name_2": "key"}
    op.post(
        f"{ADD}?type=custom",
        {"workspace": workspace.pk, "name": "shop", "hosts": "*", **rows_, "new_value_2": SECRET},
    )
    credential = Credential.objects.get()
    assert value_of(credential) == {"key_id": "AKIA123", "key": SECRET}

    answer = op.post(
        change(credential),
        {
            "value_key": "another",
            "take_away": ["key_id"],
            "new_name_1": "region",
            "new_value_1": "eu-central",
            "version_seen": 1,
        },
    )

    assert answer.status_code == 302, answer.context["errors"]
    assert value_of(credential) == {"key": "another", "region": "eu-central"}


def test_an_empty_input_leaves_the_value(op: Client, workspace: Workspace) -> None:
    credential = made(workspace, "basic", username="teller", password="hunter2")

    answer = op.post(
        change(credential), {"value_password": "correct horse", "description": "Of the shop."}
    )

    assert answer.status_code == 302, answer.context["errors"]
    assert value_of(credential) == {"username": "teller", "password": "correct horse"}
    credential.refresh_from_db()
    assert (credential.description, credential.version) == ("Of the shop.", 2)


@pytest.mark.parametrize(
    ("address", "typed", "message"),
    [
        (ADD, {"name": "shop"}, "type secret needs this field"),
        (ADD, {"name": "shop", "value_value": "short"}, "at least 6 characters"),
        (ADD, {"name": "Shop!", "value_value": SECRET}, "must begin with a lower-case letter"),
        (ADD, {"name": "taken", "value_value": SECRET}, "has this name"),
        (f"{ADD}?type=custom", {"name": "shop"}, "Expected 1 to 50 fields"),
        (f"{ADD}?type=custom", {"name": "shop", "new_name_1": "key"}, "Give the field a value"),
        (f"{ADD}?type=custom", {"name": "shop", "new_value_1": SECRET}, "Give the field a name"),
        (
            f"{ADD}?type=custom",
            {"name": "shop", "new_name_1": "Bad-Name", "new_value_1": SECRET},
            "Bad-Name",
        ),
    ],
)
def test_what_cannot_be_kept_is_told_in_the_form_and_not_shown_again(
    op: Client, workspace: Workspace, address: str, typed: dict[str, str], message: str
) -> None:
    credentials.create(
        workspace, name="taken", type="secret", fields={"value": "hunter2"}, hosts=["*"], actor=ANN
    )

    answer = op.post(address, {"workspace": workspace.pk, **typed})

    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert SECRET not in answer.content.decode()
    assert Credential.objects.count() == 1


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(
    op: Client, workspace: Workspace
) -> None:
    credential = made(workspace)
    credentials.update(credential.pk, fields={"value": "by another"}, actor=ANN)

    answer = op.post(change(credential), {"value_value": "lost it", "version_seen": 1}, follow=True)

    assert "you changed version 1" in answer.content.decode()
    assert value_of(credential) == {"value": "by another"}


def test_an_author_sees_names_and_types_and_no_input(
    django_user_model: Any, workspace: Workspace
) -> None:
    credential = made(workspace, "basic", username="teller", password="hunter2")
    author = client_of(django_user_model, workspace, "WORKFLOW")

    assert "shop" in author.get(LIST).content.decode()
    shown = author.get(change(credential)).content.decode()
    assert "password, username" in shown
    assert 'type="password"' not in shown
    assert author.get(ADD).status_code == 403
    assert author.post(change(credential), {"value_password": "hunter3"}).status_code == 403
    assert (
        author.post(f"{LIST}{credential.pk}/remove/", {"_form_submitted": "True"}).status_code
        == 403
    )
    assert value_of(credential)["password"] == "hunter2"


def test_an_author_with_the_permission_may_set_it(
    django_user_model: Any, workspace: Workspace
) -> None:
    credential = made(workspace)
    author = client_of(django_user_model, workspace, "WORKFLOW", "configure")

    assert author.post(change(credential), {"value_value": "a new one"}).status_code == 302
    assert value_of(credential) == {"value": "a new one"}


@pytest.mark.parametrize("role", ["SYSTEM", "USER"])
def test_others_see_nothing(django_user_model: Any, workspace: Workspace, role: str) -> None:
    credential = made(workspace)
    other = client_of(django_user_model, workspace, role)

    assert other.get(LIST).status_code == 403
    assert "shop" not in other.get(change(credential), follow=True).content.decode()


def test_an_administrator_elsewhere_sees_and_reaches_nothing(
    django_user_model: Any, workspace: Workspace
) -> None:
    credential = made(workspace)
    other = Workspace.objects.create(slug="other", name="Other", tier=workspace.tier)
    stranger = client_of(django_user_model, other, "ADMIN")

    assert "shop" not in stranger.get(LIST).content.decode()
    stranger.post(change(credential), {"value_value": "not mine"})
    stranger.post(f"{LIST}{credential.pk}/remove/", {"_form_submitted": "True"})
    answer = stranger.post(ADD, {"workspace": workspace.pk, "name": "n", "value_value": SECRET})
    assert answer.status_code == 200
    assert "Select a valid choice" in answer.content.decode()
    assert value_of(credential) == {"value": SECRET}


def test_one_that_a_published_workflow_names_is_not_deleted(
    op: Client, workspace: Workspace
) -> None:
    credential = made(workspace)
    workflow = rows.workflow()
    latest = workflow.latest_version
    assert latest is not None
    latest.definition |= {"note": "{{ secrets.shop }}"}
    latest.save()
    assert workflow.name in op.get(change(credential)).content.decode()

    refused = op.post(
        f"{LIST}{credential.pk}/remove/", {"_form_submitted": "True", "reason": "x"}, follow=True
    )
    assert "is named by the published workflows" in refused.content.decode()
    assert Credential.objects.exists()

    latest.definition.pop("note")
    latest.save()
    gone = op.post(f"{LIST}{credential.pk}/remove/", {"_form_submitted": "True", "reason": "left"})
    assert gone.headers["Location"] == LIST
    assert not Credential.objects.exists()
    assert Activity.objects.get(action="credential.delete").reason == "left"
    assert op.get(f"{LIST}{credential.pk}/delete/").status_code in (302, 403)


def test_the_boundary_is_typed_in_and_any_host_is_a_warning(
    op: Client, workspace: Workspace
) -> None:
    anywhere = made(workspace)
    assert "any host" in op.get(LIST).content.decode()
    typed = {"hosts": "api.example.com\n*.example.org", "modules": "http.*", "remote": "on"}

    answer = op.post(change(anywhere), {**typed, "workflows": "*", "version_seen": 1})

    assert answer.status_code == 302, answer.context["errors"]
    anywhere.refresh_from_db()
    assert anywhere.hosts == ["*.example.org", "api.example.com"]
    assert (anywhere.modules, anywhere.workflows, anywhere.remote) == (["http.*"], ["*"], True)
    assert value_of(anywhere) == {"value": SECRET}
    assert "*.example.org, api.example.com" in op.get(LIST).content.decode()
    assert "shop" not in op.get(f"{LIST}?reach=any").content.decode().partition("result")[2]
    assert "shop" in op.get(f"{LIST}?reach=named").content.decode()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"hosts": ""}, "Name the hosts to which this credential may be sent"),
        ({"hosts": "https://api.example.com/"}, "such as api.example.com"),
        ({"hosts": "*", "modules": "no module!"}, "is not a module"),
        ({"hosts": "*", "workflows": "mine"}, "is not the id of a workflow"),
        ({"hosts": "*", "workflows": "0190163d-8694-739b-aea5-966c26f8ad90"}, "no workflow"),
    ],
)
def test_a_boundary_that_cannot_be_is_told_beside_its_input(
    op: Client, workspace: Workspace, typed: dict[str, str], message: str
) -> None:
    answer = op.post(
        ADD, {"workspace": workspace.pk, "name": "shop", "value_value": SECRET, **typed}
    )

    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert not Credential.objects.exists()


@pytest.mark.parametrize("emptied", ["hosts", "modules", "workflows"])
def test_an_emptied_list_of_a_credential_is_refused(
    op: Client, workspace: Workspace, emptied: str
) -> None:
    credential = made(workspace)
    lists = dict.fromkeys(("hosts", "modules", "workflows"), "*")

    answer = op.post(change(credential), {**lists, emptied: " ", "version_seen": 1})

    assert answer.status_code == 200
    errors = answer.context["adminform"].form.errors
    assert errors == {emptied: ["Enter at least one entry, or * for any."]}
    credential.refresh_from_db()
    assert credential.version == 1


def test_the_form_of_a_type_suggests_its_boundary(op: Client, workspace: Workspace) -> None:
    page = op.get(f"{ADD}?type=stripe").content.decode()
    assert "api.stripe.com" in page
    assert "stripe.*" in page

    url = "smtp://u:password@mail.example.com"
    op.post(f"{ADD}?type=smtp", {"workspace": workspace.pk, "name": "mail", "value_url": url})

    assert Credential.objects.get().hosts == ["mail.example.com"]


def test_an_author_sees_the_boundary_and_does_not_change_it(
    django_user_model: Any, workspace: Workspace
) -> None:
    credential = made(workspace)
    author = client_of(django_user_model, workspace, "WORKFLOW")

    shown = author.get(change(credential)).content.decode()

    assert "any host" in shown
    assert 'name="hosts"' not in shown
    assert author.post(change(credential), {"hosts": "evil.example"}).status_code == 403
    credential.refresh_from_db()
    assert credential.hosts == ["*"]


def used(credential: Credential, *, refused: bool = False) -> CredentialUse:
    step = credentials.UsingStep(
        credential.workspace_id, uuid4(), uuid4(), uuid4(), "ask.main", 1, "http.request", "a.test"
    )
    opened = credentials.opened_for(step, [credential.name])
    if refused:
        ids = [one.use_id for one in opened.values()]
        credentials.refuse(step, ids, "it is not for this workflow <b>")
    return CredentialUse.objects.get(execution_id=step.execution_id)


def test_the_page_shows_the_uses_by_workflow_and_the_refused_ones(
    op: Client, workspace: Workspace
) -> None:
    credential = made(workspace)
    assert "No step has used this credential." in op.get(change(credential)).content.decode()
    workflow = rows.workflow(owner=workspace)
    used(credential)
    use = used(credential, refused=True)
    CredentialUse.objects.filter(pk=use.pk).update(workflow_id=workflow.pk)

    shown = op.get(change(credential)).content.decode()

    assert "Order import" in shown
    assert "Refused uses" in shown
    assert "it is not for this workflow &lt;b&gt;" in shown
    assert SECRET not in shown


def test_uses_are_listed_with_a_page_each(
    op: Client, workspace: Workspace, django_user_model: Any
) -> None:
    use = used(made(workspace), refused=True)
    address = "/admin/executions/credentialuse/"

    listed = op.get(address, {"result": "refused", "credential": "shop"}).content.decode()
    one = op.get(f"{address}{use.pk}/change/").content.decode()
    viewer = client_of(django_user_model, workspace, "USER")

    assert "ask.main" in listed
    assert "ask.main" not in op.get(address, {"result": "allowed"}).content.decode()
    assert "it is not for this workflow &lt;b&gt;" in one
    assert str(use.run_id)[:8] in one
    assert viewer.get(address).status_code == 403
