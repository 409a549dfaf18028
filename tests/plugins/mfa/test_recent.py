"""Pages that show secrets or change access ask for the password again after 15 minutes."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from django.test import Client

from executions.models import Activity, ApiToken, Credential
from tests.plugins.mfa.conftest import PASSWORD, App, sign_in
from tests.support import admin_rows
from valkyr_plugins.mfa.models import SecondFactor

Enrol = Callable[[Any], App]
MINUTE = 60


def grow_old(client: Client, minutes: float = 16) -> None:
    """Move the session's sign-in back by this many minutes."""
    session = client.session
    session["valkyr_signed_in_at"] -= minutes * MINUTE
    session.save()


@pytest.fixture
def old(client: Client, ada: Any) -> Client:
    """Return a browser whose sign-in was 16 minutes ago."""
    sign_in(client)
    grow_old(client)
    return client


SENSITIVE = (
    "/admin/executions/apitoken/make/",
    "/admin/executions/credential/add/",
    "/admin/executions/membership/add/",
    "/admin/executions/serviceaccount/add/",
    "/admin/executions/workspace/add/",
    "/admin/auth/user/add/",
    "/admin/auth/group/add/",
)
FREE = (
    "/admin/", "/admin/executions/apitoken/", "/admin/executions/credential/",
    "/admin/executions/membership/", "/admin/auth/user/", "/admin/executions/workflow/add/",
    "/admin/password_change/", "/mfa/",
)  # fmt: skip


@pytest.mark.parametrize("address", SENSITIVE)
def test_a_form_that_changes_access_asks_again(old: Client, address: str) -> None:
    for answer in (old.get(address), old.post(address, {})):
        assert answer.url == f"/mfa/again?next={quote(address, safe='')}"


@pytest.mark.parametrize("address", FREE)
def test_other_pages_do_not(old: Client, address: str) -> None:
    assert old.get(address).status_code == 200


@pytest.mark.parametrize("address", SENSITIVE)
def test_a_recent_sign_in_is_enough(client: Client, ada: Any, address: str) -> None:
    sign_in(client)
    grow_old(client, 14)

    assert client.get(address).status_code == 200


def test_pages_of_rows_ask_where_something_can_be_changed(old: Client, ada: Any) -> None:
    flow = admin_rows.workflow()
    admin_rows.one_of_each(flow)
    token, credential = ApiToken.objects.first(), Credential.objects.first()
    assert token is not None
    assert credential is not None
    token_page = f"/admin/executions/apitoken/{token.pk}"
    credential_page = f"/admin/executions/credential/{credential.pk}"

    assert old.get(f"{token_page}/change/").status_code == 200
    for page in (
        f"{token_page}/revoke/",
        f"{credential_page}/change/",
        f"{credential_page}/remove/",
        f"/admin/auth/user/{ada.pk}/change/",
        f"/admin/auth/user/{ada.pk}/password/",
    ):
        assert old.get(page).url.startswith("/mfa/again?"), page
    execution = flow.executions.first()
    reveal = f"/admin/executions/workflowexecution/{execution.pk}/reveal/"
    assert old.get(reveal).url.startswith("/mfa/again?")
    bulk = {"action": "bulk_revoke", "_selected_action": [str(token.pk)], "confirmed": "yes"}
    assert old.post("/admin/executions/apitoken/", bulk).url.startswith("/mfa/again?")
    token.refresh_from_db()
    assert token.revoked_at is None


OPERATIONS = (
    ("post", "/v1/ApiToken"), ("post", "/v1/Credential"), ("post", "/v1/Membership"),
    ("post", "/v1/ServiceAccount"), ("post", "/v1/Workspace"),
    ("patch", "/v1/Credential/{id}"), ("delete", "/v1/Membership/{id}"),
    ("post", "/v1/WorkflowExecution/{id}/reveal"), ("get", "/v1/Trigger/{id}/secret"),
)  # fmt: skip


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_operations_that_change_access_ask_a_browsers_session_again(
    old: Client, method: str, path: str
) -> None:
    address = path.format(id=UUID(int=7))
    send = getattr(old, method)

    refused = send(address, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (401, "sign_in_not_recent")
    assert old.get("/v1/Credential").status_code == 200
    grow_old(old, -10)
    assert send(address, {}, content_type="application/json").status_code in {404, 422}


def test_tokens_need_no_recent_sign_in(old: Client) -> None:
    body = {"username": "ada", "password": PASSWORD}
    pair = old.post("/v1/auth/token", body, content_type="application/json").json()
    headers = {"Authorization": f"Bearer {pair['access']}"}

    answer = old.post("/v1/ApiToken", {}, content_type="application/json", headers=headers)

    assert answer.status_code == 422


def test_the_password_leads_on_to_the_page_that_was_asked_for(old: Client) -> None:
    led = old.get("/admin/executions/credential/add/?type=secret").url
    assert b'name="code"' not in old.get(led).content

    wrong = old.post(led, {"password": "no"})
    assert b"The password is wrong." in wrong.content
    right = old.post(led, {"password": PASSWORD})

    assert right.url == "/admin/executions/credential/add/?type=secret"
    assert old.get(right.url).status_code == 200
    found = Activity.objects.order_by("id").values_list("action", flat=True)
    assert list(found)[-2:] == ["account.sign_in_failed", "account.sign_in_again"]


def test_who_has_a_factor_gives_a_code_too(client: Client, ada: Any, app: Enrol) -> None:
    his = app(ada)
    sign_in(client)
    client.post("/mfa/code", {"code": his.code()})
    grow_old(client)
    led = client.get("/admin/executions/apitoken/make/").url

    without = client.post(led, {"password": PASSWORD})
    wrong = client.post(led, {"password": PASSWORD, "code": his.wrong()})
    assert (without.status_code, wrong.status_code) == (200, 200)
    assert client.post(led, {"password": PASSWORD, "code": his.code()}).url == (
        "/admin/executions/apitoken/make/"
    )


def test_a_code_alone_makes_no_old_sign_in_recent(client: Client, ada: Any, app: Enrol) -> None:
    sign_in(client)
    grow_old(client)
    his = app(ada)

    client.post("/mfa/code", {"code": his.code()})

    assert client.get("/admin/executions/apitoken/make/").url.startswith("/mfa/again?")


def test_a_factor_is_set_up_and_removed_after_a_recent_sign_in_alone(
    old: Client, ada: Any, app: Enrol
) -> None:
    assert old.post("/mfa/begin").url == "/mfa/again?next=%2Fmfa%2F"
    assert not SecondFactor.objects.exists()
    his = app(ada)
    old.post("/mfa/code", {"code": his.code()})
    for address in ("/mfa/remove", "/mfa/codes"):
        assert old.post(address).url == "/mfa/again?next=%2Fmfa%2F"
    assert SecondFactor.objects.exists()


def test_a_session_without_a_time_is_old(client: Client, ada: Any) -> None:
    sign_in(client)
    session = client.session
    del session["valkyr_signed_in_at"]
    session.save()

    assert client.get("/admin/executions/apitoken/make/").url.startswith("/mfa/again?")


def test_zero_minutes_never_ask(old: Client, settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"RECENT_SIGN_IN_MINUTES": 0}

    assert old.get("/admin/executions/apitoken/make/").status_code == 200


def test_an_account_without_a_password_signs_in_anew(old: Client, ada: Any) -> None:
    ada.set_unusable_password()
    ada.save()
    old.force_login(ada)
    grow_old(old)
    led = old.get("/admin/executions/apitoken/make/").url

    assert b"Sign in again" in old.get(led).content
    answer = old.post("/mfa/leave", {"next": "/admin/executions/apitoken/make/"})
    assert answer.url == "/admin/login/?next=/admin/executions/apitoken/make/"


def test_the_password_again_is_throttled_with_sign_ins(old: Client) -> None:
    led = "/mfa/again?next=/admin/"
    for _ in range(20):
        old.post(led, {"password": "no"})

    refused = old.post(led, {"password": PASSWORD})

    assert b"More than 20 sign-ins with this name in a minute." in refused.content
