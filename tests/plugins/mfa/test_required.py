"""With MFA_REQUIRED, users without a factor can open only its set-up."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from tests.plugins.mfa.conftest import PASSWORD, App, sign_in
from tests.plugins.mfa.test_setting_up import set_up
from tests.support.identity import begin, running_provider
from tests.support.left_out import run_without
from tests.support.signed_in import bearer

Enrol = Callable[[Any], App]


@pytest.fixture(autouse=True)
def _required(settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"MFA_REQUIRED": True}


def test_people_are_led_to_the_set_up_before_any_other_page(client: Client, ada: Any) -> None:
    sign_in(client)

    for address in ("/admin/", "/studio/", "/docs", "/admin/password_change/"):
        answer = client.get(address)
        assert answer.url.startswith("/mfa/?next="), address
    assert b"requires a second factor" in client.get("/mfa/").content
    refused = client.get("/v1/Me")
    assert (refused.status_code, refused.json()["code"]) == (401, "second_factor_missing")


def test_after_the_set_up_they_open_every_page(client: Client, ada: Any) -> None:
    sign_in(client)
    set_up(client, ada)

    assert client.get("/admin/").status_code == 200
    assert client.get("/v1/Me").status_code == 200
    client.post("/mfa/remove")
    assert client.get("/admin/").url.startswith("/mfa/?next=")


def test_who_has_a_factor_gives_its_code(client: Client, ada: Any, app: Enrol) -> None:
    his = app(ada)
    sign_in(client)

    assert client.get("/admin/").url.startswith("/mfa/code?")
    assert client.post("/mfa/code", {"code": his.code()}).url == "/admin/"


def test_tokens_go_on_and_new_ones_need_the_factor(client: Client, ada: Any) -> None:
    headers = {"Authorization": bearer(ada)}
    sign_in(client)
    assert client.get("/v1/Me", headers=headers).status_code == 200

    body = {"username": "ada", "password": PASSWORD}
    refused = client.post("/v1/auth/token", body, content_type="application/json")

    assert (refused.status_code, refused.json()["code"]) == (401, "second_factor_missing")


@pytest.fixture
def provider(settings: Any) -> Iterator[Any]:
    with running_provider() as running:
        groups = {"engineers": "default:WORKFLOW"}
        settings.VALKYR = settings.VALKYR | running.settings(roles=groups)
        yield running


def test_single_sign_on_counts_as_a_factor_of_its_own(client: Client, provider: Any) -> None:
    provider.person("u1", preferred_username="grace", groups=["engineers"])
    client.get(provider.consent(begin(client, "/admin/"), "u1"))

    assert client.get("/admin/").status_code == 200
    assert client.get("/v1/Me").json()["username"] == "grace"


def test_a_requirement_is_not_lost_by_leaving_the_plugin_out() -> None:
    done = run_without("import django; django.setup()", "connectors", VALKYR_MFA_REQUIRED="1")

    assert done.returncode != 0
    assert "VALKYR_PLUGINS lacks 'mfa'" in done.stderr


PROGRAM = """
import sys
import django
django.setup()
from django.conf import settings
from django.test import Client
client = Client(SERVER_NAME="localhost")
print(client.get("/mfa/").status_code)
print([name for name in settings.MIDDLEWARE if "mfa" in name])
print(sorted({name.partition(".")[0] for name in sys.modules} & {"pyotp", "segno"}))
"""


def test_left_out_it_adds_no_address_no_middleware_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors")

    assert done.stdout.splitlines() == ["404", "[]", "[]"], done.stderr
