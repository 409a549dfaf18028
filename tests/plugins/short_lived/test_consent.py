"""A user connects a credential in the browser by consenting at an OAuth 2.0 server."""

import html
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.core import signing
from django.test import Client

from executions import credentials
from executions.models import Activity, Credential, Membership, Workspace
from runners.modules.base import StepError
from tests.support.issuing import IssuingServer
from tests.support.workflows import ACTOR, default_workspace
from valkyr_plugins.short_lived import consent, oauth2

pytestmark = pytest.mark.django_db
LIST = "/admin/executions/credential/"
CALLBACK = "/credentials/oauth2/callback"


@pytest.fixture(autouse=True)
def _static(static_files: None) -> None: ...


@pytest.fixture
def workspace() -> Workspace:
    return default_workspace()


@pytest.fixture
def crm(workspace: Workspace, server: IssuingServer) -> Credential:
    """Create a credential that waits for its consent."""
    return made(workspace, server)


def made(workspace: Workspace, server: IssuingServer, **more: str) -> Credential:
    given = {
        "token_url": f"{server.url}/token",
        "authorization_url": f"{server.url}/authorize?access_type=offline",
        "client_id": "valkyr",
        "client_secret": "s3cret-of-the-client",
        "scope": "contacts.read",
    }
    return credentials.create(
        workspace, name="crm", type="oauth2", fields=given | more, hosts=["*"], actor=ACTOR
    )


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


def change(credential: Credential) -> str:
    return f"{LIST}{credential.pk}/change/"


def begun(client: Client, credential: Credential) -> str:
    """Return the server's URL to which the page links."""
    page = client.get(f"{LIST}{credential.pk}/connect/")
    assert page.status_code == 200
    found = re.search(r'href="([^"]*/authorize\?[^"]*)"', page.content.decode())
    assert found
    return html.unescape(found[1])


def consented(address: str) -> str:
    """Return the path to which the server redirects the browser."""
    answer = httpx.get(address, follow_redirects=False, trust_env=False)
    target = urlsplit(answer.headers["location"])
    assert target.path == CALLBACK
    return f"{target.path}?{target.query}"


def told(client: Client, address: str) -> str:
    """Return the text of the final page, with its messages."""
    page = client.get(address, follow=True)
    assert page.status_code == 200
    return html.unescape(page.content.decode())


def fields_of(credential: Credential) -> dict[str, str]:
    return credentials.values_of(credential.workspace_id, [credential.name])[credential.name]


def test_a_consent_stores_the_refresh_token_sealed_and_recorded(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    assert "not connected" in told(op, LIST)
    assert "Connect…" in told(op, change(crm))
    address = begun(op, crm)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert asked["access_type"] == "offline"
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert (asked["client_id"], asked["scope"]) == ("valkyr", "contacts.read")
    assert asked["redirect_uri"] == f"http://testserver{CALLBACK}"

    page = told(op, consented(address))

    assert "Credential crm is connected." in page
    crm.refresh_from_db()
    assert crm.version == 2
    assert "refresh_token" in crm.fields
    assert fields_of(crm)["refresh_token"] == "refresh-0-token"
    assert b"refresh-0-token" not in bytes(crm.sealed)
    assert crm.issued_until is not None
    line = Activity.objects.get(action="credential.connect")
    assert (line.actor_name, line.object_id) == ("ada-ADMIN", str(crm.pk))
    kept = json.dumps([line.before, line.after, line.details], default=str)
    for shown in (page, told(op, LIST), told(op, change(crm)), kept):
        assert "refresh-0-token" not in shown
        assert "secret-number" not in shown
    assert "token expires" in told(op, LIST)


def test_the_first_step_uses_the_token_of_the_consent(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    told(op, consented(begun(op, crm)))
    crm.refresh_from_db()

    found = credentials.rotating.issue(credentials.source_of(crm), None, oauth2.issue, lambda: None)

    assert found.fields == {"token": "secret-number-1"}
    assert server.count("/token") == 1


def test_a_step_with_a_credential_that_is_not_connected_says_so(crm: Credential) -> None:
    with pytest.raises(StepError, match="is not connected: open its page in the admin"):
        oauth2.issue(credentials.source_of(crm), None)


def test_a_declined_consent_is_a_message(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    server.declines = "access_denied"

    assert "The consent was declined at the server." in told(op, consented(begun(op, crm)))
    assert "refresh_token" not in fields_of(crm)


def test_another_error_of_the_server_names_its_code(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    server.declines = "invalid_scope"

    assert "did not grant access: invalid_scope." in told(op, consented(begun(op, crm)))


def test_a_state_works_once(op: Client, crm: Credential) -> None:
    back = consented(begun(op, crm))
    assert "is connected" in told(op, back)

    assert "was used before" in told(op, back)
    assert Activity.objects.filter(action="credential.connect").count() == 1


def test_a_state_works_in_the_session_that_began(
    op: Client, crm: Credential, workspace: Workspace, django_user_model: Any
) -> None:
    other = client_of(django_user_model, workspace, "WORKFLOW", "configure")
    back = consented(begun(op, crm))

    assert "does not belong to this session" in told(other, back)
    assert "refresh_token" not in fields_of(crm)


def test_a_state_ends_after_ten_minutes(
    op: Client, crm: Credential, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = consented(begun(op, crm))
    monkeypatch.setattr(consent, "SECONDS", -1)

    assert "took more than ten minutes" in told(op, back)


@pytest.mark.parametrize("state", ["", "made-up", "forged"])
def test_a_state_that_is_not_ours_is_a_message(
    op: Client, crm: Credential, server: IssuingServer, state: str
) -> None:
    begun(op, crm)
    if state == "forged":
        state = signing.dumps({"id": str(crm.pk), "nonce": "x"}, salt=consent.SALT)

    page = told(op, f"{CALLBACK}?code=code-1&state={state}")

    assert "does not belong to this session" in page
    assert server.count("/token") == 0


def test_a_state_of_another_credential_is_refused(
    op: Client, crm: Credential, server: IssuingServer, workspace: Workspace
) -> None:
    begun(op, crm)
    nonce = next(iter(op.session[consent.PENDING]))
    state = signing.dumps({"id": str(workspace.pk), "nonce": nonce}, salt=consent.SALT)

    assert "does not belong to this session" in told(op, f"{CALLBACK}?code=x&state={state}")


def test_a_credential_that_was_changed_meanwhile_is_not_connected(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    back = consented(begun(op, crm))
    credentials.update(crm.pk, actor=ACTOR, fields={"client_id": "another"})

    assert "was changed during the consent" in told(op, back)
    assert server.count("/token") == 0


def test_a_server_that_does_not_answer_is_a_message(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    back = consented(begun(op, crm))
    server.status = 503

    assert "answered 503" in told(op, back)
    server.stop()
    back = back_again(op, crm)
    assert "was not connected: " in told(op, back)


def back_again(client: Client, credential: Credential) -> str:
    """Return the path of the answer of a server that is down by now."""
    state = parse_qs(urlsplit(begun(client, credential)).query)["state"][0]
    return f"{CALLBACK}?code=code-1&state={state}"


def test_a_code_that_the_server_does_not_know_is_a_message(op: Client, crm: Credential) -> None:
    assert "(invalid_grant)" in told(op, back_again(op, crm))


def test_an_answer_without_a_refresh_token_says_what_to_do(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    server.gives_refresh_token = False

    assert "scope offline_access" in told(op, consented(begun(op, crm)))
    assert "refresh_token" not in fields_of(crm)


def test_only_users_who_may_change_it_connect_it(
    crm: Credential, workspace: Workspace, django_user_model: Any, server: IssuingServer
) -> None:
    author = client_of(django_user_model, workspace, "WORKFLOW")
    stranger = Client()

    assert "Connect…" not in told(author, change(crm))
    assert author.get(f"{LIST}{crm.pk}/connect/").status_code == 403
    assert "login" in stranger.get(f"{CALLBACK}?code=x&state=y").headers["Location"]
    assert "login" in stranger.get(f"{LIST}{crm.pk}/connect/").headers["Location"]


def test_a_person_who_loses_the_permission_during_the_consent_connects_nothing(
    crm: Credential, server: IssuingServer, workspace: Workspace, django_user_model: Any
) -> None:
    author = client_of(django_user_model, workspace, "WORKFLOW", "configure")
    back = consented(begun(author, crm))
    Membership.objects.filter(user__username="ada-WORKFLOW").update(permissions=[])

    assert "or you may not change it" in told(author, back)
    assert server.count("/token") == 0


def test_a_credential_without_an_authorization_page_has_no_button(
    op: Client, workspace: Workspace, server: IssuingServer
) -> None:
    plain = made(workspace, server)
    fields = {"token_url": f"{server.url}/token", "client_id": "c", "client_secret": "s3cret-value"}
    machine = credentials.create(
        workspace, name="machine", type="oauth2", fields=fields, hosts=["*"], actor=ACTOR
    )

    assert "Connect…" in told(op, change(plain))
    assert "Connect…" not in told(op, change(machine))
    assert "has no authorization_url" in told(op, f"{LIST}{machine.pk}/connect/")


def test_egress_rules_apply_to_the_exchange(
    op: Client, crm: Credential, server: IssuingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = consented(begun(op, crm))
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")

    assert "private or special address" in told(op, back)


def test_a_new_consent_replaces_the_token(
    op: Client, crm: Credential, server: IssuingServer
) -> None:
    told(op, consented(begun(op, crm)))
    server.refresh_token = "refresh-of-another-account"

    assert "is connected" in told(op, consented(begun(op, crm)))
    assert fields_of(crm)["refresh_token"] == "refresh-of-another-account"
