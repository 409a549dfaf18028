"""Members, service accounts, tokens, workspaces and tiers in the admin, written as the API writes
them.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from rest_framework.test import APIClient

from executions.access.grants import give, grants_on
from executions.access.powers import INCLUDED
from executions.models import (
    Activity,
    ApiToken,
    Membership,
    ServiceAccount,
    Tier,
    Workspace,
)
from executions.sealing import payload_keys
from executions.states import Permission, Role
from tests.support import admin_rows as rows
from tests.support.workflows import ACTOR

pytestmark = pytest.mark.django_db
PAGES = "/admin/executions"


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> None:
    """Provide the static files that pages need."""


@pytest.fixture
def workspace() -> Workspace:
    return rows.workspace()


@pytest.fixture
def elsewhere() -> Workspace:
    return rows.workspace("elsewhere")


@pytest.fixture
def sign_in(workspace: Workspace) -> Callable[..., Client]:
    """Return a function that signs in a member of the admin with a role in the default workspace,
    or a superuser without one.
    """

    def make(role: str = "", name: str = "boss") -> Client:
        users = get_user_model().objects
        user = users.create(username=name, is_staff=True, is_superuser=not role)
        if role:
            Membership.objects.create(user=user, workspace=workspace, role=role)
        client = Client()
        client.force_login(user)
        return client

    return make


def _said(answer: Any) -> str:
    return " ".join(str(message) for message in answer.context["messages"])


def _token_in(answer: Any) -> str:
    [text] = set(re.findall(r"vlk_[0-9A-Za-z]{49}", answer.content.decode()))
    return str(text)


def _lets_in(token: str) -> bool:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return bool(client.get("/v1/Me").status_code == 200)


def test_an_administrator_adds_changes_and_removes_a_member(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in("ADMIN")
    get_user_model().objects.create(username="ada")
    body = {
        "workspace": workspace.pk,
        "username": "ada",
        "role": "USER",
        "permissions": ["bulk", "discard"],
    }
    added = boss.post(f"{PAGES}/membership/add/", body, follow=True)
    assert added.status_code == 200
    row = Membership.objects.get(user__username="ada")
    assert row.permissions == ["bulk", "discard"]
    page = f"{PAGES}/membership/{row.pk}"
    assert "checked" in boss.get(f"{page}/change/").content.decode()

    boss.post(f"{page}/change/", {"role": "WORKFLOW", "permissions": []})
    row.refresh_from_db()
    assert (row.role, row.permissions) == ("WORKFLOW", [])
    boss.post(f"{page}/remove/", {"_form_submitted": "True", "reason": "left"})

    assert not Membership.objects.filter(pk=row.pk).exists()
    trail = Activity.objects.filter(object_type="Membership").order_by("pk")
    assert [(line.action, line.via, line.reason) for line in trail] == [
        ("membership.create", "admin", ""),
        ("membership.update", "admin", ""),
        ("membership.delete", "admin", "left"),
    ]


def test_a_removed_member_loses_shares_of_workflows(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in("ADMIN")
    ada = get_user_model().objects.create(username="ada")
    bob = get_user_model().objects.create(username="bob")
    workflow = rows.workflow(owner=workspace)
    row = Membership.objects.create(workspace=workspace, user=ada, role="USER")
    Membership.objects.create(workspace=workspace, user=bob, role="USER")
    for name in ("ada", "bob"):
        give(workflow, ["READ", "EXECUTE"], username=name, actor=ACTOR)

    boss.post(f"{PAGES}/membership/{row.pk}/remove/", {"_form_submitted": "True"})
    Membership.objects.create(workspace=workspace, user=ada, role="USER")

    assert [grant.username for grant in grants_on(workflow)] == ["bob"]
    assert Activity.objects.get(action="membership.delete").before["shares"] == 2


def test_the_form_names_each_permission_that_the_role_workflow_lacks(
    sign_in: Callable[..., Client],
) -> None:
    page = sign_in("ADMIN").get(f"{PAGES}/membership/add/").text
    text = page.partition("WORKFLOW has all except ")[2].partition(".")[0]

    lacking = set(Permission) - INCLUDED[Role.WORKFLOW]
    assert set(re.findall(r"[a-z_]+", text)) - {"and"} == lacking


def test_the_last_administrator_stays_and_the_page_says_why(
    sign_in: Callable[..., Client],
) -> None:
    boss = sign_in("ADMIN")
    row = Membership.objects.get()

    changed = boss.post(
        f"{PAGES}/membership/{row.pk}/change/", {"role": "USER", "permissions": []}, follow=True
    )
    removed = boss.post(
        f"{PAGES}/membership/{row.pk}/remove/",
        {"_form_submitted": "True", "reason": ""},
        follow=True,
    )

    assert "is the last ADMIN" in _said(changed)
    assert "is the last ADMIN" in _said(removed)
    assert Membership.objects.get().role == "ADMIN"


def test_a_person_there_is_not_is_told_in_the_form(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    body = {"workspace": workspace.pk, "username": "nobody", "role": "USER"}

    answer = sign_in("ADMIN").post(f"{PAGES}/membership/add/", body)

    assert answer.status_code == 200
    assert "There is no such user." in answer.content.decode()
    assert Membership.objects.count() == 1


def test_an_administrator_reaches_no_other_workspace(
    sign_in: Callable[..., Client], elsewhere: Workspace
) -> None:
    boss = sign_in("ADMIN")
    theirs = Membership.objects.create(
        user=get_user_model().objects.create(username="mallory"), workspace=elsewhere, role="USER"
    )
    body = {"workspace": elsewhere.pk, "username": "boss", "role": "ADMIN"}

    assert boss.post(f"{PAGES}/membership/add/", body).status_code == 200  # the form again
    boss.post(f"{PAGES}/membership/{theirs.pk}/change/", {"role": "ADMIN"})
    boss.post(f"{PAGES}/membership/{theirs.pk}/remove/", {"_form_submitted": "True"})

    assert Membership.objects.filter(workspace=elsewhere).get().role == "USER"
    listed = boss.get(f"{PAGES}/membership/").content.decode()
    assert "mallory" not in listed
    assert "elsewhere" not in boss.get(f"{PAGES}/workspace/").content.decode()


def test_an_administrator_renames_a_workspace_and_cannot_raise_its_limits(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in("ADMIN")
    big = Tier.objects.create(name="big")
    page = f"{PAGES}/workspace/{workspace.pk}"

    boss.post(f"{page}/change/", {"name": "Ours", "tier": big.pk, "slug": "mine"})
    archived = boss.post(f"{page}/archive/", {"_form_submitted": "True", "reason": ""})

    assert archived.status_code == 403
    workspace.refresh_from_db()
    assert (workspace.name, workspace.slug) == ("Ours", "default")
    assert workspace.tier.name == "unlimited"
    assert workspace.archived_at is None
    assert boss.get(f"{PAGES}/workspace/add/").status_code == 403
    assert boss.get(f"{PAGES}/tier/add/").status_code == 403


def test_an_administrator_edits_the_egress_rules_of_a_workspace(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in("ADMIN")
    page = f"{PAGES}/workspace/{workspace.pk}/change/"

    refused = boss.post(page, {"name": "default", "egress": "api.example.com\nhttps://x/"})
    assert "write a host without https://" in refused.content.decode()
    boss.post(page, {"name": "default", "egress": "api.example.com\n*.Example.org"})

    workspace.refresh_from_db()
    assert workspace.egress_hosts == ["*.example.org", "api.example.com"]
    assert "*.example.org\napi.example.com</textarea>" in boss.get(page).content.decode()
    row = Activity.objects.get(action="workspace.update")
    assert (row.actor_name, row.before["egressHosts"]) == ("boss", [])


def test_a_superuser_switches_the_sealing_of_payloads(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in()
    page = f"{PAGES}/workspace/{workspace.pk}"
    asked = {"_form_submitted": "True", "reason": "audit 7"}

    def offered() -> set[str]:
        text = boss.get(f"{page}/change/").content.decode()
        names = ("seal-payloads", "rotate-payload-key", "stop-sealing")
        return {name for name in names if f"/{name}/" in text}

    assert offered() == {"seal-payloads"}
    boss.post(f"{page}/seal-payloads/", asked)
    first = payload_keys.current(workspace.pk)
    assert first is not None
    assert offered() == {"rotate-payload-key", "stop-sealing"}
    boss.post(f"{page}/rotate-payload-key/", asked)
    assert payload_keys.current(workspace.pk) not in (None, first)
    boss.post(f"{page}/stop-sealing/", asked)
    assert payload_keys.current(workspace.pk) is None

    rows: Any = Activity.objects.filter(action__startswith="payloads.").order_by("pk")
    assert [(row.action, row.actor_name, row.reason) for row in rows] == [
        ("payloads.seal", "boss", "audit 7"),
        ("payloads.rotate", "boss", "audit 7"),
        ("payloads.open", "boss", "audit 7"),
    ]


def test_an_administrator_of_a_workspace_cannot_switch_the_sealing(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in("ADMIN")
    page = f"{PAGES}/workspace/{workspace.pk}"

    refused = boss.post(f"{page}/seal-payloads/", {"_form_submitted": "True", "reason": ""})

    assert refused.status_code == 403
    assert payload_keys.current(workspace.pk) is None


def test_a_superuser_makes_archives_and_restores_a_workspace(
    sign_in: Callable[..., Client],
) -> None:
    boss = sign_in()
    boss.post(f"{PAGES}/tier/add/", {"name": "small", "max_concurrent": "2"})
    tier = Tier.objects.get(name="small")
    boss.post(f"{PAGES}/workspace/add/", {"name": "Team A", "slug": "team-a", "tier": tier.pk})
    made = Workspace.objects.get(slug="team-a")
    page = f"{PAGES}/workspace/{made.pk}"
    asked = {"_form_submitted": "True", "reason": "moved"}

    boss.post(f"{page}/archive/", asked)
    made.refresh_from_db()
    assert made.archived_at is not None
    boss.post(f"{page}/restore/", asked)
    made.refresh_from_db()
    assert made.archived_at is None
    refused = boss.post(f"{PAGES}/tier/{tier.pk}/delete-tier/", asked, follow=True)

    assert "Workspaces use tier 'small' (team-a)" in _said(refused)
    actions: Any = Activity.objects.filter(object_type__in=("Tier", "Workspace"))
    actions = actions.order_by("pk").values_list("action", flat=True)
    assert list(actions) == [
        "tier.create",
        "workspace.create",
        "workspace.archive",
        "workspace.restore",
    ]


def test_a_program_is_made_given_a_token_and_switched_off(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in("ADMIN")
    body = {"workspace": workspace.pk, "name": "robot", "role": "SYSTEM", "description": "x"}
    boss.post(f"{PAGES}/serviceaccount/add/", body)
    account = ServiceAccount.objects.get()
    page = f"{PAGES}/serviceaccount/{account.pk}"
    asked = {"_form_submitted": "True", "name": "key", "days": "30", "scopes": ["trigger"]}

    token = _token_in(boss.post(f"{page}/new-token/", asked))

    assert _lets_in(token)
    row = ApiToken.objects.get()
    assert (row.user_id, row.scopes, row.created_by) == (account.user_id, ["trigger"], "boss")
    boss.post(f"{page}/switch-off/", {"_form_submitted": "True", "reason": ""})
    assert not _lets_in(token)
    boss.post(f"{page}/switch-on/", {"_form_submitted": "True", "reason": ""})
    assert _lets_in(token)
    boss.post(
        f"{page}/change/", {"name": "arm", "role": "USER", "permissions": [], "description": ""}
    )
    assert account.user.valkyr_memberships.get().role == "USER"


def test_everybody_makes_sees_and_revokes_their_own_tokens(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    author, boss = sign_in("WORKFLOW", "ada"), sign_in("ADMIN")
    asked = {"_form_submitted": "True", "workspace": workspace.pk, "name": "mine", "days": "7"}

    shown = author.post(f"{PAGES}/apitoken/make/", asked)
    token = _token_in(shown)
    own = ApiToken.objects.get()
    _token_in(boss.post(f"{PAGES}/apitoken/make/", {**asked, "name": "of the boss"}))

    assert _lets_in(token)
    listed = author.get(f"{PAGES}/apitoken/").content.decode()
    assert "mine" in listed
    assert "of the boss" not in listed
    assert token not in listed
    assert token not in author.get(f"{PAGES}/apitoken/{own.pk}/change/").content.decode()
    other = ApiToken.objects.get(name="of the boss")
    asked = {"_form_submitted": "True", "reason": "lost"}
    author.post(f"{PAGES}/apitoken/{other.pk}/revoke/", asked)
    author.post(f"{PAGES}/apitoken/{own.pk}/revoke/", asked)

    assert not _lets_in(token)
    other.refresh_from_db()
    assert other.revoked_at is None
    assert Activity.objects.get(action="api_token.revoke").reason == "lost"


def test_a_token_with_more_than_one_may_is_refused_in_the_dialog(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    author = sign_in("WORKFLOW")
    asked = {"_form_submitted": "True", "workspace": workspace.pk, "name": "x", "days": "7"}

    beyond = author.post(f"{PAGES}/apitoken/make/", {**asked, "scopes": ["administer"]})
    long = author.post(f"{PAGES}/apitoken/make/", {**asked, "days": "366"})

    assert "cannot have scopes that you do not have" in beyond.content.decode()
    assert "365" in long.content.decode()
    assert not ApiToken.objects.exists()


def test_programs_are_no_users_to_give_passwords_to(
    sign_in: Callable[..., Client], workspace: Workspace
) -> None:
    boss = sign_in()
    body = {"workspace": workspace.pk, "name": "robot", "role": "SYSTEM"}
    boss.post(f"{PAGES}/serviceaccount/add/", body)
    user = ServiceAccount.objects.get().user

    assert user.username not in boss.get("/admin/auth/user/").content.decode()
    assert boss.get(f"/admin/auth/user/{user.pk}/password/").status_code in {302, 404}
    assert boss.get(f"/admin/auth/user/{user.pk}/delete/").status_code in {302, 403}
