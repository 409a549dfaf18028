"""Tests of passkeys in addition to the password: added, requested, used, removed and reset."""

import html
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from executions.access.actor import Actor
from executions.models import Activity
from tests.plugins.mfa.conftest import PASSWORD, App, sign_in
from tests.support.passkeys import SoftPasskey
from tests.support.rates import forget_rates
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.models import Passkey, RecoveryCode, SecondFactor

Enrol = Callable[[Any], App]
CODE = "/mfa/code?next=%2Fadmin%2F"


@pytest.fixture
def client() -> Client:
    """Return a browser at a host name that may have passkeys."""
    return Client(SERVER_NAME="localhost")


def options(answer: Any) -> dict[str, Any]:
    """Return the page's data for the browser."""
    found = re.search(r'data-options="([^"]+)"', answer.content.decode())
    assert found is not None, answer.content.decode()
    asked: dict[str, Any] = json.loads(html.unescape(found.group(1)))
    return asked


def add(client: Client, name: str = "laptop") -> SoftPasskey:
    made = SoftPasskey()
    asked = options(client.get("/mfa/passkeys/add"))
    client.post("/mfa/passkeys/add", {"name": name, "passkey": made.created(asked)})
    assert Passkey.objects.filter(name=name).exists()
    return made


@pytest.fixture
def key(client: Client, ada: Any) -> SoftPasskey:
    """Return a passkey of ada, whose browser has signed out."""
    sign_in(client)
    made = add(client)
    client.logout()
    forget_rates()
    return made


def use(client: Client, key: SoftPasskey, asked: dict[str, Any] | None = None) -> Any:
    return client.post(CODE, {"passkey": key.signed(asked or options(client.get(CODE)))})


def test_a_passkey_is_added_with_recovery_codes_and_asked_for_at_sign_in(
    client: Client, ada: Any
) -> None:
    sign_in(client)
    made = SoftPasskey()
    asked = options(client.get("/mfa/passkeys/add"))
    assert asked["publicKey"]["rp"]["id"] == "localhost"

    shown = client.post("/mfa/passkeys/add", {"name": "laptop", "passkey": made.created(asked)})

    assert shown.content.count(b"<li><code>") == 10
    assert client.get("/admin/").status_code == 200
    client.logout()
    sign_in(client)
    assert client.get("/admin/").url == CODE
    assert use(client, made).url == "/admin/"
    assert client.get("/admin/").status_code == 200
    assert client.get("/v1/Me").status_code == 200
    row = Activity.objects.get(action="account.second_factor")
    assert (row.details["kind"], row.actor_name) == ("passkey", "ada")
    assert Activity.objects.get(action="second_factor.enrol").details["name"] == "laptop"
    assert b"laptop" in client.get("/mfa/").content


def test_an_answer_counts_once_and_only_for_its_own_challenge(
    client: Client, key: SoftPasskey
) -> None:
    sign_in(client)
    asked = options(client.get(CODE))
    answer = key.signed(asked)
    assert client.post(CODE, {"passkey": answer}).status_code == 302
    thief = Client(SERVER_NAME="localhost")
    sign_in(thief)
    thief.get(CODE)

    refused = thief.post(CODE, {"passkey": answer})

    assert b"The passkey was not accepted." in refused.content
    assert thief.get("/admin/").url == CODE
    assert Activity.objects.filter(action="account.second_factor_failed").count() == 1


def test_without_the_library_the_page_asks_for_a_recovery_code(
    client: Client, key: SoftPasskey, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(client)
    elsewhere = client.get(CODE, headers={"host": "127.0.0.1"}).content.decode()
    monkeypatch.setitem(sys.modules, "fido2", None)

    shown = client.get(CODE).content.decode()

    assert "Your passkeys belong to another address" in elsewhere
    assert "the library fido2 is not installed. Enter a recovery code." in shown
    assert "another address" not in shown


@pytest.mark.parametrize("case", ["other origin", "other key", "copied key", "no JSON", "a list"])
def test_a_wrong_answer_signs_nobody_in(client: Client, key: SoftPasskey, case: str) -> None:
    sign_in(client)
    asked = options(client.get(CODE))
    if case == "other origin":
        key.origin = "https://localhost.evil.example"
    elif case == "other key":
        key.key = SoftPasskey().key
    elif case == "copied key":
        Passkey.objects.update(uses=9)
    answer = {"no JSON": "{", "a list": "[]"}.get(case) or key.signed(asked)

    refused = client.post(CODE, {"passkey": answer})

    assert b"The passkey was not accepted." in refused.content
    assert client.get("/admin/").url == CODE


def test_a_passkey_of_another_person_is_refused(
    client: Client, key: SoftPasskey, django_user_model: Any
) -> None:
    django_user_model.objects.create_superuser("eve", password=PASSWORD)
    eves = Client(SERVER_NAME="localhost")
    sign_in(eves, "eve")
    hers = add(eves, "hers")
    sign_in(client)

    assert use(client, hers).status_code == 200
    assert client.get("/admin/").url == CODE


def test_a_recovery_code_replaces_a_passkey_and_a_one_time_code_does_not(
    client: Client, ada: Any, key: SoftPasskey
) -> None:
    codes = factors.renew_codes(ada, Actor.system("tests")).recovery_codes
    sign_in(client)

    assert b"The code is wrong" in client.post(CODE, {"code": "123456"}).content
    assert b"Enter a code." in client.post(CODE, {"code": ""}).content
    assert client.post(CODE, {"code": codes[0]}).status_code == 302
    body = {"username": "ada", "password": PASSWORD}
    lacking = client.post("/v1/auth/token", body, content_type="application/json")
    given = client.post("/v1/auth/token", body | {"code": codes[1]}, "application/json")
    assert (lacking.json()["code"], given.status_code) == ("second_factor_required", 200)


def test_app_and_passkey_stand_for_each_other_and_share_the_recovery_codes(
    client: Client, ada: Any, key: SoftPasskey, app: Enrol
) -> None:
    before = set(RecoveryCode.objects.values_list("digest", flat=True))
    hers = app(ada)
    assert set(RecoveryCode.objects.values_list("digest", flat=True)) == before

    sign_in(client)
    assert use(client, key).status_code == 302
    client.logout()
    sign_in(client)
    assert client.post(CODE, {"code": hers.code()}).status_code == 302

    client.post("/mfa/remove")
    assert not SecondFactor.objects.exists()
    assert client.get("/admin/").status_code == 200, "this browser has just given a code"
    assert RecoveryCode.objects.count() == 10
    client.post(f"/mfa/passkeys/{Passkey.objects.get().pk}/remove")
    assert not RecoveryCode.objects.exists()
    assert sign_in(Client()).url == "/admin/"


def test_a_passkey_is_the_factor_that_the_installation_requires(
    client: Client, ada: Any, settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"MFA_REQUIRED": True}
    sign_in(client)
    assert client.get("/admin/").url.startswith("/mfa/?next=")

    add(client)

    assert client.get("/admin/").status_code == 200


def test_the_password_is_confirmed_with_a_passkey(client: Client, key: SoftPasskey) -> None:
    sign_in(client)
    use(client, key)
    session = client.session
    session["valkyr_signed_in_at"] -= 3600
    session.save()
    assert client.get("/mfa/passkeys/add").url.startswith("/mfa/again?")
    answer = key.signed(options(client.get("/mfa/again")))

    assert client.post("/mfa/again", {"password": PASSWORD, "passkey": answer}).status_code == 302
    assert client.get("/mfa/passkeys/add").status_code == 200


def test_a_reset_removes_every_factor_and_ends_the_sessions(
    client: Client, ada: Any, key: SoftPasskey, app: Enrol, django_user_model: Any
) -> None:
    app(ada)
    sign_in(client)
    use(client, key)
    django_user_model.objects.create_superuser("root", password=PASSWORD)
    root = Client()
    sign_in(root, "root")
    page = f"/admin/valkyr_mfa/passkey/{Passkey.objects.get().pk}"
    assert root.get("/admin/valkyr_mfa/passkey/").status_code == 200
    assert root.get(f"{page}/change/").status_code == 200

    root.post(f"{page}/reset/", {"reason": "lost the bag", "_form_submitted": "1"})

    assert not Passkey.objects.exists()
    assert not SecondFactor.objects.exists()
    assert not RecoveryCode.objects.exists()
    assert client.get("/admin/").url == "/admin/login/?next=/admin/"
    assert root.get("/admin/").status_code == 200
    row = Activity.objects.get(action="second_factor.reset")
    assert (row.reason, row.before) == ("lost the bag", {"app": True, "passkeys": 1})


@pytest.mark.parametrize("host", ["192.0.2.7", "valkyr.example.org", "[::1]"])
def test_where_browsers_allow_no_passkeys_the_page_says_so(
    ada: Any, settings: Any, host: str
) -> None:
    settings.ALLOWED_HOSTS = [host]
    client = Client(headers={"host": f"{host}:8000"})
    sign_in(client)

    assert b"Passkeys require HTTPS and a host name" in client.get("/mfa/").content
    assert client.get("/mfa/passkeys/add").url.startswith("/mfa/?")


def test_the_answer_of_another_person_adds_no_key_twice(
    client: Client, key: SoftPasskey, django_user_model: Any
) -> None:
    django_user_model.objects.create_superuser("eve", password=PASSWORD)
    eves = Client(SERVER_NAME="localhost")
    sign_in(eves, "eve")
    asked = options(eves.get("/mfa/passkeys/add"))

    refused = eves.post("/mfa/passkeys/add", {"name": "x", "passkey": key.created(asked)})

    assert b"The passkey was not accepted." in refused.content
    assert Passkey.objects.count() == 1
    assert RecoveryCode.objects.filter(user__username="eve").count() == 0
