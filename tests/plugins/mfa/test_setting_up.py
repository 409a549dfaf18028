"""Users set up, view and remove their second factor; a superuser resets a lost one."""

import re
from collections.abc import Callable
from io import StringIO
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from executions.models import Activity
from tests.plugins.mfa.conftest import PASSWORD, App, sign_in
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.models import RecoveryCode, SecondFactor

Enrol = Callable[[Any], App]


def recorded() -> list[str]:
    rows = Activity.objects.filter(action__startswith="second_factor.").order_by("id")
    return list(rows.values_list("action", flat=True))


def set_up(client: Client, user: Any) -> tuple[App, Any]:
    """Complete the set-up; return the app, and the page with the recovery codes."""
    assert client.post("/mfa/begin").url.startswith("/mfa/confirm")
    app = App(user)
    app.begin()
    return app, client.post("/mfa/confirm?next=/studio/", {"code": app.same_code()})


def test_a_person_sets_up_a_factor_and_gets_ten_recovery_codes(client: Client, ada: Any) -> None:
    sign_in(client)
    assert "Set up an authenticator app" in client.get("/mfa/").content.decode()
    client.post("/mfa/begin")
    page = client.get("/mfa/confirm").content.decode()
    picture = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert picture is not None
    assert ET.fromstring(picture[0]).tag.endswith("svg")
    app = App(ada)
    app.begin()
    assert app.secret in page.replace(" ", "")
    assert b"The code is wrong" in client.post("/mfa/confirm", {"code": app.wrong()}).content

    done = client.post("/mfa/confirm?next=/studio/", {"code": app.same_code()})

    codes = re.findall(r"[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}", done.content.decode())
    assert len(set(codes)) == 10
    assert 'href="/studio/"' in done.content.decode()
    assert done.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert client.get("/admin/").status_code == 200, "this browser has just given a code"
    assert "10 of 10" in client.get("/mfa/").content.decode()
    assert recorded() == ["second_factor.enrol"]


def test_a_set_up_that_is_not_confirmed_asks_nobody_for_a_code(client: Client, ada: Any) -> None:
    sign_in(client)
    client.post("/mfa/begin")
    first = factors.secret_of(SecondFactor.objects.get())
    client.post("/mfa/begin")

    assert factors.secret_of(SecondFactor.objects.get()) != first
    assert sign_in(Client()).url == "/admin/"
    other = Client()
    sign_in(other)
    assert other.get("/admin/").status_code == 200


def test_a_second_factor_is_not_replaced_by_another_one(client: Client, ada: Any) -> None:
    sign_in(client)
    set_up(client, ada)

    answer = client.post("/mfa/begin")

    assert answer.status_code == 409
    assert b"Remove it first" in answer.content


def test_new_recovery_codes_replace_those_before(client: Client, ada: Any) -> None:
    sign_in(client)
    set_up(client, ada)
    before = set(RecoveryCode.objects.values_list("digest", flat=True))

    client.post("/mfa/codes")

    after = set(RecoveryCode.objects.values_list("digest", flat=True))
    assert len(after) == 10
    assert not before & after
    assert recorded() == ["second_factor.enrol", "second_factor.renew_codes"]


def test_a_person_removes_the_factor(client: Client, ada: Any) -> None:
    sign_in(client)
    set_up(client, ada)
    assert client.get("/mfa/remove").status_code == 200
    assert SecondFactor.objects.exists()

    assert client.post("/mfa/remove").url == "/mfa/"

    assert not SecondFactor.objects.exists()
    assert not RecoveryCode.objects.exists()
    assert client.get("/admin/").status_code == 200
    assert recorded() == ["second_factor.enrol", "second_factor.remove"]


def test_a_superuser_resets_a_lost_factor_with_a_reason(
    client: Client, ada: Any, app: Enrol, django_user_model: Any
) -> None:
    bob = django_user_model.objects.create_user("bob", password=PASSWORD, is_staff=True)
    app(bob)
    factor = SecondFactor.objects.get()
    sign_in(client)
    page = f"/admin/valkyr_mfa/secondfactor/{factor.pk}"
    assert client.get("/admin/valkyr_mfa/secondfactor/").status_code == 200
    assert client.get(f"{page}/change/").status_code == 200

    client.post(f"{page}/reset/", {"reason": "", "_form_submitted": "1"})
    assert SecondFactor.objects.exists()
    client.post(f"{page}/reset/", {"reason": "lost the phone", "_form_submitted": "1"})

    assert not SecondFactor.objects.exists()
    row = Activity.objects.get(action="second_factor.reset")
    assert (row.actor_name, row.via, row.reason) == ("ada", "admin", "lost the phone")
    assert row.details == {"user": "bob"}


def test_others_neither_see_nor_reset_factors_that_are_not_theirs(
    client: Client, ada: Any, app: Enrol, django_user_model: Any
) -> None:
    django_user_model.objects.create_user("bob", password=PASSWORD, is_staff=True)
    app(ada)
    factor = SecondFactor.objects.get()
    sign_in(client, "bob")
    page = f"/admin/valkyr_mfa/secondfactor/{factor.pk}"

    assert str(factor.pk) not in client.get("/admin/valkyr_mfa/secondfactor/").content.decode()
    assert client.post(
        f"{page}/reset/", {"reason": "mine now", "_form_submitted": "1"}
    ).status_code in {302, 403}
    assert SecondFactor.objects.exists()


def test_a_command_resets_a_factor(ada: Any, app: Enrol) -> None:
    app(ada)
    out = StringIO()

    call_command("reset_second_factor", "ada", "--reason", "locked out", stdout=out)

    assert "The second factor of ada was removed." in out.getvalue()
    assert not SecondFactor.objects.exists()
    row = Activity.objects.get(action="second_factor.reset")
    assert (row.via, row.reason) == ("command", "locked out")
    for name, message in (("ada", "has no second factor"), ("eve", "There is no user 'eve'")):
        with pytest.raises(CommandError, match=message):
            call_command("reset_second_factor", name)
