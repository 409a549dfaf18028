"""The studio's pages without a browser: access, attributes, and security headers."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from executions.models import Membership, Workflow
from tests.support import admin_rows as rows
from tests.support.sharing import assign_perm

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}
POWERS = ("can-edit", "can-publish", "can-run", "can-operate", "can-see-payloads")
ZERO = "00000000-0000-0000-0000-000000000000"


class Page(HTMLParser):
    """The relevant parts of a page: its elements with their attributes."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(answer.content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    @property
    def facts(self) -> dict[str, str]:
        """Return the data attributes of the studio's root element."""
        found = next(attributes for _, attributes in self.elements if "data-home" in attributes)
        return {name.removeprefix("data-"): value for name, value in found.items()}

    @property
    def powers(self) -> set[str]:
        return {power for power in POWERS if self.facts[power] == "true"}


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


def signed_in(django_user_model: Any, workflow: Workflow, role: str = "", **more: Any) -> Client:
    user = django_user_model.objects.create(username="ada", **more)
    if role:
        Membership.objects.create(user=user, workspace_id=workflow.workspace_id, role=role)
    client = Client()
    client.force_login(user)
    return client


def editor(workflow: Workflow) -> str:
    return f"/studio/{workflow.pk}/"


@pytest.mark.parametrize("page", ["/studio/", "editor"])
def test_scripts_and_styles_come_from_our_files_alone(
    django_user_model: Any, workflow: Workflow, page: str
) -> None:
    client = signed_in(django_user_model, workflow, "ADMIN")

    answer = client.get(editor(workflow) if page == "editor" else page)

    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    elements = Page(answer).elements
    assert not [attributes for _, attributes in elements if "style" in attributes]
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]
    scripts = [attributes for tag, attributes in elements if tag == "script"]
    assert [one["src"].startswith("/static/executions/studio/") for one in scripts] == [True]
    assert "style" not in {tag for tag, _ in elements}
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("role", ["ADMIN", "WORKFLOW"])
def test_who_authors_a_workspace_may_do_everything_in_it(
    django_user_model: Any, workflow: Workflow, role: str
) -> None:
    client = signed_in(django_user_model, workflow, role)

    assert Page(client.get(editor(workflow))).powers == set(POWERS)
    assert Page(client.get("/studio/")).facts["can-edit"] == "true"


@pytest.mark.parametrize(
    ("grants", "powers"),
    [
        (("read_workflow",), set()),
        (("read_workflow", "execute_workflow"), {"can-run"}),
        (("read_workflow", "write_workflow"), {"can-edit", "can-publish", "can-operate"}),
    ],
)
def test_who_was_granted_one_workflow_may_do_that_and_no_more(
    django_user_model: Any, workflow: Workflow, grants: tuple[str, ...], powers: set[str]
) -> None:
    client = signed_in(django_user_model, workflow, "USER")
    for grant in grants:
        assign_perm(grant, django_user_model.objects.get(), workflow)

    assert Page(client.get(editor(workflow))).powers == powers
    # A new workflow belongs to a workspace, in which a grant on another workflow allows nothing.
    assert Page(client.get("/studio/")).facts["can-edit"] == "false"


def test_a_superuser_may_do_everything_everywhere(
    django_user_model: Any, workflow: Workflow
) -> None:
    client = signed_in(django_user_model, workflow, is_superuser=True)

    assert Page(client.get(editor(workflow))).powers == set(POWERS)
    assert Page(client.get("/studio/")).facts["can-edit"] == "true"


def test_a_page_says_where_things_are_and_nothing_of_the_workflow_itself(
    django_user_model: Any, workflow: Workflow
) -> None:
    answer = signed_in(django_user_model, workflow, "WORKFLOW").get(editor(workflow))

    told = Page(answer).facts
    assert len(told.pop("csrf-token")) == 64
    assert "vault" in {one["name"] for one in json.loads(told.pop("credential-types"))}
    assert told | dict.fromkeys(POWERS, "") == dict.fromkeys(POWERS, "") | {
        "id": "studio",
        "workflow": str(workflow.pk),
        "workspace": str(workflow.workspace_id),
        "username": "ada",
        "api": "/",
        "csrf-cookie": "csrftoken",
        "csrf-header": "X-CSRFTOKEN",
        "home": "/studio/",
        "credentials-page": "/admin/executions/credential/",
        "admin": "/admin/",
        "sign-in": "/admin/login/",
        "execution-page": f"/admin/executions/workflowexecution/{ZERO}/change/",
        "workflow-page": f"/admin/executions/workflow/{workflow.pk}/change/",
        "origin": "",
        "can-take-over": "false",
        "can-configure": "false",
        "has-backtests": "true",
        "has-canaries": "true",
        "migrate-page": f"/admin/executions/workflow/{workflow.pk}/migrate/",
        "canary-version": "0",
        "canary-percent": "0",
        "from-git": "false",
        "git-commit": "",
        "git-repository": "",
        "published-from-git": "false",
    }
    assert "tasks" not in answer.content.decode()
    assert answer.cookies["csrftoken"].value


def test_who_may_make_credentials_is_told_what_each_type_asks_for(
    django_user_model: Any, workflow: Workflow
) -> None:
    told = Page(signed_in(django_user_model, workflow, "ADMIN").get(editor(workflow))).facts

    assert told["can-configure"] == "true"
    types = {one["name"]: one for one in json.loads(told["credential-types"])}
    assert types["basic"]["fields"] == ["username", "password"]
    assert types["basic"]["known"] == ["username"]
    assert (types["bearer"]["suggestsHosts"], types["smtp"]["suggestsHosts"]) == (False, True)
    # Those that give values of any kind are offered beside those that a module names.
    assert {name: one["modules"] for name, one in types.items() if one["modules"]} == {
        "custom": ["*"],
        "vault": ["*"],
        "oauth2": ["*"],
        "aws_sts": ["file.*", "archive.*"],
    }


@pytest.mark.parametrize("role", ["", "USER", "SYSTEM"])
def test_who_may_not_see_a_workflow_gets_no_editor(
    django_user_model: Any, workflow: Workflow, role: str
) -> None:
    client = signed_in(django_user_model, workflow, role)

    answer = client.get(editor(workflow))

    # As in the API: a user without rights in the workspace does not learn that it exists.
    assert answer.status_code == (403 if role == "SYSTEM" else 404)
    assert workflow.name not in answer.content.decode()


@pytest.mark.parametrize("kind", ["archived", "unknown", "of another workspace"])
def test_what_is_not_there_is_not_found(
    django_user_model: Any, workflow: Workflow, kind: str
) -> None:
    client = signed_in(django_user_model, workflow, "ADMIN")
    address = editor(workflow)
    if kind == "archived":
        Workflow.objects.update(archived_at=timezone.now())
    elif kind == "unknown":
        address = f"/studio/{ZERO}/"
    else:
        address = editor(rows.workflow("theirs", owner=rows.workspace("elsewhere")))

    answer = client.get(address)

    assert answer.status_code == 404
    assert workflow.name not in answer.content.decode()


@pytest.mark.parametrize("page", ["/studio/", "editor"])
def test_nobody_is_asked_to_sign_in_and_comes_back(
    client: Client, workflow: Workflow, page: str
) -> None:
    address = f"{editor(workflow) if page == 'editor' else page}?execution=7"

    answer = client.get(address, headers={"Authorization": "Bearer vk_not-for-pages"})

    assert answer.status_code == 302
    assert answer["Location"] == f"/admin/login/?next={address.replace('?', '%3F')}".replace(
        "=7", "%3D7"
    )


def test_who_authors_nowhere_is_offered_no_new_workflow(
    django_user_model: Any, workflow: Workflow
) -> None:
    client = signed_in(django_user_model, workflow, "SYSTEM")

    assert Page(client.get("/studio/")).facts["can-edit"] == "false"


def test_a_name_that_is_hostile_is_text(django_user_model: Any, workflow: Workflow) -> None:
    hostile = '"><script>alert(1)</script>'
    Workflow.objects.update(name=hostile)

    answer = signed_in(django_user_model, workflow, "ADMIN").get(editor(workflow))

    assert hostile not in answer.content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.content.decode()
