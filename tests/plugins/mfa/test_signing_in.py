"""Sign-in with a password requires the second factor at every entry point."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connections
from django.test import Client

from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.models import Activity
from tests.plugins.mfa.conftest import PASSWORD, App, sign_in
from tests.support.rates import forget_rates
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.models import RecoveryCode, SecondFactor

Enrol = Callable[[Any], App]
CODE_PAGE = "/mfa/code?next=%2Fadmin%2F"


def actions(*named: str) -> list[str]:
    rows = Activity.objects.filter(action__in=named) if named else Activity.objects.all()
    return list(rows.order_by("id").values_list("action", flat=True))


def test_without_a_factor_the_password_signs_in(client: Client, ada: Any) -> None:
    assert sign_in(client).url == "/admin/"
    assert client.get("/admin/").status_code == 200
    assert client.get("/v1/Me").json()["username"] == "ada"


def test_with_a_factor_the_code_opens_the_page_that_was_asked_for(
    client: Client, ada: Any, app: Enrol
) -> None:
    his = app(ada)
    sign_in(client, wanted="/admin/executions/workflow/?q=a")
    led = client.get("/admin/executions/workflow/?q=a")
    assert led.url == "/mfa/code?next=%2Fadmin%2Fexecutions%2Fworkflow%2F%3Fq%3Da"
    page = client.get(led.url)
    assert b'autocomplete="one-time-code"' in page.content
    before = client.session.session_key

    answer = client.post(led.url, {"code": his.code()})

    assert answer.url == "/admin/executions/workflow/?q=a"
    assert client.get(answer.url).status_code == 200
    assert client.get("/v1/Me").status_code == 200
    assert client.session.session_key != before
    assert actions("account.second_factor") == ["account.second_factor"]
    (row,) = Activity.objects.filter(action="account.second_factor")
    assert (row.actor_name, row.via, row.details["kind"]) == (
        "ada",
        "second factor",
        "one-time code",
    )


def test_until_then_the_session_signs_nobody_in(client: Client, ada: Any, app: Enrol) -> None:
    app(ada)
    sign_in(client)

    for address in ("/", "/studio/", "/admin/", "/admin/password_change/", "/docs"):
        answer = client.get(address)
        assert answer.url.startswith("/mfa/code?"), address
    refused = client.get("/v1/Workflow")
    assert (refused.status_code, refused.json()["code"]) == (401, "second_factor_required")
    for address in ("/mfa/", "/mfa/confirm", "/mfa/remove", "/mfa/again"):
        assert client.get(address).url.startswith("/mfa/code?"), address
    assert client.post("/mfa/codes").url.startswith("/mfa/code?")
    dialog = client.get(
        "/admin/executions/apitoken/make/",
        headers={
            "HX-Request": "true",
            "HX-Current-URL": "http://testserver/admin/executions/apitoken/",
        },
    )
    assert dialog.headers["HX-Redirect"] == "/mfa/code?next=%2Fadmin%2Fexecutions%2Fapitoken%2F"


def test_a_token_in_a_request_signs_in_whatever_the_session_lacks(
    client: Client, ada: Any, app: Enrol
) -> None:
    pair = client.post(
        "/v1/auth/token", {"username": "ada", "password": PASSWORD}, content_type="application/json"
    ).json()
    app(ada)
    sign_in(client)

    headers = {"Authorization": f"Bearer {pair['access']}"}
    assert client.get("/v1/Me", headers=headers).status_code == 200


def test_a_wrong_code_is_refused_and_recorded(client: Client, ada: Any, app: Enrol) -> None:
    his = app(ada)
    sign_in(client)

    answer = client.post(CODE_PAGE, {"code": his.wrong()})

    assert b"The code is wrong" in answer.content
    assert client.get("/admin/").url == CODE_PAGE
    assert actions("account.second_factor_failed") == ["account.second_factor_failed"]


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_a_code_is_accepted_once(client: Client, ada: Any, app: Enrol, steps: int) -> None:
    his = app(ada)
    code = his.code(steps)
    sign_in(client)
    assert client.post(CODE_PAGE, {"code": code}).status_code == 302
    thief = Client()
    sign_in(thief)

    replayed = thief.post(CODE_PAGE, {"code": code})

    assert replayed.status_code == 200
    assert thief.get("/admin/").url == CODE_PAGE


@pytest.mark.parametrize("steps", [-2, 2])
def test_a_code_two_steps_away_is_refused(client: Client, ada: Any, app: Enrol, steps: int) -> None:
    his = app(ada)
    code = his.code(steps)
    sign_in(client)

    assert client.post(CODE_PAGE, {"code": code}).status_code == 200


def test_the_code_of_the_set_up_does_not_sign_in_too(client: Client, ada: Any, app: Enrol) -> None:
    used = app(ada).same_code()
    sign_in(client)

    assert client.post(CODE_PAGE, {"code": used}).status_code == 200


def test_a_recovery_code_signs_in_once(client: Client, ada: Any, app: Enrol) -> None:
    app(ada)
    codes = factors.renew_codes(ada, Actor.system("tests")).recovery_codes
    assert not RecoveryCode.objects.filter(digest__in=codes).exists()
    sign_in(client)

    assert client.post(CODE_PAGE, {"code": codes[3].lower()}).status_code == 302
    other = Client()
    sign_in(other)
    assert other.post(CODE_PAGE, {"code": codes[3]}).status_code == 200
    assert other.post(CODE_PAGE, {"code": codes[4]}).status_code == 302
    assert RecoveryCode.objects.filter(used_at=None).count() == 8


def test_more_than_five_codes_a_minute_are_refused_from_wherever_they_come(
    client: Client, ada: Any, app: Enrol
) -> None:
    his = app(ada)
    forget_rates()
    sign_in(client)
    for number in range(5):
        client.post(CODE_PAGE, {"code": his.wrong()}, REMOTE_ADDR=f"192.0.2.{number}")

    refused = client.post(CODE_PAGE, {"code": his.code()}, REMOTE_ADDR="192.0.2.9")

    assert b"More than 5 codes for this account in a minute." in refused.content
    forget_rates()
    assert client.post(CODE_PAGE, {"code": his.code()}).status_code == 302


def test_after_ten_wrong_codes_in_a_row_a_right_one_waits_and_a_recovery_code_does_not(
    client: Client, ada: Any, app: Enrol
) -> None:
    his = app(ada)
    recovery = factors.renew_codes(ada, Actor.system("tests")).recovery_codes
    sign_in(client)
    for _ in range(10):
        forget_rates()
        client.post(CODE_PAGE, {"code": his.wrong()})
    forget_rates()

    refused = client.post(CODE_PAGE, {"code": his.code()})

    assert b"10 codes in a row were wrong. Wait 1 min" in refused.content
    assert client.post(CODE_PAGE, {"code": recovery[0]}).status_code == 302
    other = Client()
    sign_in(other)
    assert other.post(CODE_PAGE, {"code": his.code()}).status_code == 302
    assert SecondFactor.objects.get().failures == 0


def test_a_right_code_counts_once_the_wait_is_over(client: Client, ada: Any, app: Enrol) -> None:
    his = app(ada)
    long_ago = database_now() - timedelta(seconds=61)
    SecondFactor.objects.update(failures=10, failed_at=long_ago)
    sign_in(client)

    assert client.post(CODE_PAGE, {"code": his.code()}).status_code == 302


def test_a_factor_set_up_elsewhere_is_asked_for_in_sessions_that_are_open(
    client: Client, ada: Any, app: Enrol
) -> None:
    sign_in(client)
    assert client.get("/admin/").status_code == 200
    app(ada)

    assert client.get("/admin/").url == CODE_PAGE


def test_who_leaves_at_the_code_is_signed_out(client: Client, ada: Any, app: Enrol) -> None:
    app(ada)
    sign_in(client)

    answer = client.post("/mfa/leave", {"next": "/admin/executions/workflow/"})

    assert answer.url == "/admin/login/?next=/admin/executions/workflow/"
    assert "_auth_user_id" not in client.session
    assert actions("account.sign_out") == ["account.sign_out"]


@pytest.mark.parametrize("address", ["https://evil.example", "//evil.example/", "javascript:1"])
def test_a_sign_in_leads_to_no_other_host(
    client: Client, ada: Any, app: Enrol, address: str
) -> None:
    his = app(ada)
    sign_in(client)

    answer = client.post("/mfa/code", {"code": his.code(), "next": address})

    assert answer.url == "/admin/"


def test_a_stranger_is_led_to_the_sign_in_page(client: Client, db: None) -> None:
    for address in ("/mfa/", "/mfa/code", "/mfa/again", "/mfa/confirm", "/mfa/remove"):
        assert client.get(address).url == f"/admin/login/?next={address}", address


# Tokens for a password.


def exchange(client: Client, **more: str) -> Any:
    body = {"username": "ada", "password": PASSWORD, **more}
    return client.post("/v1/auth/token", body, content_type="application/json")


def test_tokens_are_exchanged_for_a_password_and_a_code(
    client: Client, ada: Any, app: Enrol
) -> None:
    his = app(ada)
    without, wrong = exchange(client), exchange(client, code=his.wrong())
    code = his.code()
    given, replayed = exchange(client, code=code), exchange(client, code=code)

    assert (without.status_code, without.json()["code"]) == (401, "second_factor_required")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "second_factor_wrong")
    assert given.status_code == 200
    assert replayed.status_code == 401


def test_a_wrong_password_does_not_tell_whether_there_is_a_factor(
    client: Client, ada: Any, app: Enrol
) -> None:
    body = {"username": "ada", "password": "no"}
    before = client.post("/v1/auth/token", body, content_type="application/json").json()
    app(ada)
    after = client.post("/v1/auth/token", body, content_type="application/json").json()

    assert before["code"] == after["code"]
    assert before["detail"] == after["detail"]


# Processes that race.


@pytest.mark.django_db(transaction=True)
def test_of_two_who_send_one_code_at_once_one_comes_in(ada: Any, app: Enrol) -> None:
    his = app(ada)
    code = his.code()

    def attempt(_: int) -> bool:
        try:
            factors.check(ada, code, Actor.system("tests"))
        except factors.CodeRefused:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(attempt, range(4)))

    assert sorted(found) == [False, False, False, True]


def test_the_secret_is_sealed_and_sealed_again_under_another_key(ada: Any, app: Enrol) -> None:
    from django.core.management import call_command

    his = app(ada)
    before = SecondFactor.objects.get(user=ada)
    assert his.secret.encode() not in bytes(before.sealed)
    for action in ("rotate", "reseal", "retire"):
        call_command("keys", action, stdout=__import__("io").StringIO())

    after = SecondFactor.objects.get(user=ada)
    assert after.key_id != before.key_id
    assert factors.secret_of(after) == his.secret
    assert get_user_model().objects.count() == 1
