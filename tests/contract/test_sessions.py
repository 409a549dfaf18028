"""Sessions: refresh tokens work once, and the owner sees and ends each session."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db.models import F
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from executions.access.actor import Actor
from executions.accounts import browser_sessions, sessions, tokens
from executions.accounts.token_sessions import SessionAccess, SessionRefresh
from executions.models import AccountSession, Activity, Membership, Workspace

UNKNOWN = UUID(int=7)
pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def ada(workspace: Workspace) -> Any:
    user = get_user_model().objects.create_user("ada", password=PASSWORD, is_staff=True)
    Membership.objects.create(user=user, workspace=workspace, role="WORKFLOW")
    return user


@pytest.fixture
def pair(ada: Any) -> dict[str, str]:
    """Sign Ada in; return the tokens of the session."""
    return sign_in()


def sign_in(agent: str = "curl/8") -> dict[str, str]:
    body = {"username": "ada", "password": PASSWORD}
    answer = APIClient(HTTP_USER_AGENT=agent).post("/v1/auth/token", body, format="json")
    assert answer.status_code == 200, answer.content
    found: dict[str, str] = answer.json()
    return found


def refresh(token: str) -> Any:
    return APIClient().post("/v1/auth/token/refresh", {"refresh": token}, format="json")


def revoke(token: str) -> Any:
    return APIClient().post("/v1/auth/revoke", {"token": token}, format="json")


def signed_in(pair: dict[str, str]) -> APIClient:
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {pair['access']}")


def opens(pair: dict[str, str]) -> bool:
    """Return whether the access token opens the API; a rejection says that the user must sign in
    again.
    """
    answer = signed_in(pair).get("/v1/Me")
    assert answer.status_code in {200, 401}
    return bool(answer.status_code == 200)


def browser(agent: str = "Firefox") -> Client:
    client = Client(HTTP_USER_AGENT=agent)
    body = {"username": "ada", "password": PASSWORD}
    assert client.post("/admin/login/", body).status_code == 302
    return client


def id_of(pair: dict[str, str]) -> UUID:
    return UUID(SessionAccess(pair["access"])["sid"])  # type: ignore[arg-type]


def test_a_refresh_token_gives_the_next_pair_and_is_used_up(pair: dict[str, str]) -> None:
    first = refresh(pair["refresh"])
    again = refresh(first.json()["refresh"])

    assert (first.status_code, again.status_code) == (200, 200)
    assert set(first.json()) == {"access", "refresh"}
    assert len({pair["refresh"], first.json()["refresh"], again.json()["refresh"]}) == 3
    assert opens(again.json())
    assert AccountSession.objects.count() == 1


def test_a_used_refresh_token_ends_the_session_with_all_of_its_tokens(
    pair: dict[str, str],
) -> None:
    newer = refresh(pair["refresh"]).json()

    reused = refresh(pair["refresh"])

    assert (reused.status_code, reused.json()["code"]) == (401, "refresh_reused")
    assert not opens(pair)
    assert not opens(newer)
    assert refresh(newer["refresh"]).json()["code"] == "session_ended"
    row = AccountSession.objects.get()
    assert row.end_reason == "REUSED"
    line = Activity.objects.get(action="session.reuse")
    assert (line.actor_name, line.object_id, line.address) == ("ada", str(row.pk), "127.0.0.1")


def test_a_used_refresh_token_leaves_other_sessions_alone(pair: dict[str, str]) -> None:
    other = sign_in()
    refresh(pair["refresh"])
    refresh(pair["refresh"])

    assert opens(other)
    assert refresh(other["refresh"]).status_code == 200


def test_refreshing_does_not_prolong_a_session(pair: dict[str, str]) -> None:
    before = SessionRefresh(pair["refresh"])["exp"]  # type: ignore[arg-type]

    newer = refresh(pair["refresh"]).json()

    assert SessionRefresh(newer["refresh"])["exp"] == before
    assert SessionAccess(newer["access"])["exp"] <= before


def test_tokens_of_a_session_that_expired_are_refused(pair: dict[str, str]) -> None:
    AccountSession.objects.update(expires_at=F("created_at"))

    assert not opens(pair)
    assert refresh(pair["refresh"]).json()["code"] == "session_ended"
    # It was no theft: no warning is sent.
    assert not Activity.objects.filter(action="session.reuse").exists()


def test_a_token_without_a_session_is_refused(ada: Any) -> None:
    access, renewing = SessionAccess.for_user(ada), SessionRefresh.for_user(ada)

    assert not opens({"access": str(access)})
    assert refresh(str(renewing)).status_code == 401
    assert revoke(str(renewing)).status_code == 200


def test_a_token_of_somebody_else_s_session_is_refused(pair: dict[str, str]) -> None:
    eve = get_user_model().objects.create_user("eve")
    forged = SessionAccess.for_user(eve)
    forged["sid"] = str(id_of(pair))

    assert not opens({"access": str(forged)})


@pytest.mark.parametrize("sid", ["", "x", None, 7, str(UNKNOWN)])
def test_a_session_that_is_none_is_refused(ada: Any, sid: Any) -> None:
    for kind in (SessionAccess, SessionRefresh):
        token = kind.for_user(ada)
        token["sid"] = sid
        assert refresh(str(token)).status_code == 401
        assert revoke(str(token)).status_code == 200
        assert not opens({"access": str(token)})


@pytest.mark.parametrize("which", ["access", "refresh"])
def test_revoking_a_token_ends_its_session_at_once(pair: dict[str, str], which: str) -> None:
    other = sign_in()

    assert revoke(pair[which]).status_code == 200

    assert not opens(pair)
    assert refresh(pair["refresh"]).json()["code"] == "session_ended"
    assert opens(other)
    assert Activity.objects.get(action="account.sign_out").actor_name == "ada"


def test_revoking_a_used_refresh_token_ends_the_session(pair: dict[str, str]) -> None:
    newer = refresh(pair["refresh"]).json()

    revoke(pair["refresh"])

    assert not opens(newer)


@pytest.mark.parametrize("token", ["x", "a.b.c", "e30.e30.e30", "\x7f" * 50])
def test_revoking_what_is_no_token_answers_as_if_it_was_one(
    pair: dict[str, str], token: str
) -> None:
    answer = revoke(token)

    assert (answer.status_code, answer.content) == (200, b"")
    assert opens(pair)


def _password(ada: Any) -> None:
    ada.set_password(f"{PASSWORD}!")
    ada.save()


def _switched_off(ada: Any) -> None:
    get_user_model().objects.filter(pk=ada.pk).update(is_active=False)
    get_user_model().objects.filter(pk=ada.pk).update(is_active=True)


def _no_longer_staff(ada: Any) -> None:
    get_user_model().objects.filter(pk=ada.pk).update(is_staff=False)


def _demoted(ada: Any) -> None:
    ada.valkyr_memberships.update(role="USER")


def _removed(ada: Any) -> None:
    ada.valkyr_memberships.all().delete()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_password, "PASSWORD"),
        (_switched_off, "SWITCHED_OFF"),
        (_no_longer_staff, "LOST_RIGHTS"),
        (_demoted, "LOST_RIGHTS"),
        (_removed, "LOST_RIGHTS"),
    ],
)
def test_who_loses_a_right_or_changes_the_password_is_signed_out_everywhere(
    static_files: None, pair: dict[str, str], ada: Any, change: Any, reason: str
) -> None:
    page = browser()

    change(ada)

    assert not opens(pair)
    assert refresh(pair["refresh"]).status_code == 401
    assert page.get("/v1/Me").status_code == 401
    assert set(AccountSession.objects.values_list("end_reason", flat=True)) == {reason}


def test_a_promotion_signs_nobody_out(pair: dict[str, str], ada: Any) -> None:
    ada.valkyr_memberships.update(role="ADMIN")
    get_user_model().objects.filter(pk=ada.pk).update(is_superuser=True, first_name="Ada")

    assert opens(pair)


def test_one_s_sessions_are_listed_with_where_they_are_used(
    static_files: None, pair: dict[str, str]
) -> None:
    browser("Firefox\x7f\xff")
    get_user_model().objects.create_user("eve", password=PASSWORD)
    APIClient().post("/v1/auth/token", {"username": "eve", "password": PASSWORD}, format="json")

    answer = signed_in(pair).get("/v1/auth/sessions")

    assert answer.status_code == 200
    newest, oldest = answer.json()
    assert (newest["kind"], newest["current"]) == ("BROWSER", False)
    assert newest["userAgent"].startswith("Firefox")
    assert (oldest["kind"], oldest["current"], oldest["userAgent"]) == ("TOKEN", True, "curl/8")
    assert (oldest["address"], oldest["lastUsedFrom"]) == ("127.0.0.1", "127.0.0.1")
    assert oldest["createdAt"] <= oldest["lastUsedAt"] < oldest["expiresAt"]
    assert "digest" not in answer.content.decode()


def test_the_list_has_pages(pair: dict[str, str]) -> None:
    others = [sign_in() for _ in range(2)]

    first = signed_in(pair).get("/v1/auth/sessions?limit=2")
    cursor = first["Link"].split("cursor=")[1].split("&")[0].split(">")[0]
    rest = signed_in(pair).get(f"/v1/auth/sessions?limit=2&cursor={cursor}")

    found = [row["id"] for answer in (first, rest) for row in answer.json()]
    assert found == [str(id_of(one)) for one in (*reversed(others), pair)]


def test_ending_one_session_stops_its_tokens_or_its_cookie_at_once(
    static_files: None, pair: dict[str, str]
) -> None:
    page, other = browser(), sign_in()
    by_browser = AccountSession.objects.get(kind="BROWSER")

    for pk in (by_browser.pk, id_of(other)):
        assert signed_in(pair).delete(f"/v1/auth/sessions/{pk}").status_code == 204
        assert signed_in(pair).delete(f"/v1/auth/sessions/{pk}").status_code == 404

    assert page.get("/v1/Me").status_code == 401
    assert page.get("/admin/").status_code == 302
    assert not opens(other)
    assert opens(pair)
    assert Activity.objects.filter(action="session.end", actor_name="ada").count() == 2


def test_nobody_ends_the_session_of_somebody_else(
    pair: dict[str, str], member: Callable[..., Any]
) -> None:
    eve = APIClient()
    eve.force_authenticate(member("ADMIN"))

    assert eve.delete(f"/v1/auth/sessions/{id_of(pair)}").status_code == 404
    assert eve.get("/v1/auth/sessions").json() == []
    assert opens(pair)


def test_all_other_sessions_end_together(static_files: None, pair: dict[str, str]) -> None:
    page, other = browser(), sign_in()

    answer = signed_in(pair).delete("/v1/auth/sessions")

    assert (answer.status_code, answer.json()) == (200, {"ended": 2})
    assert not opens(other)
    assert page.get("/v1/Me").status_code == 401
    assert opens(pair)
    line = Activity.objects.get(action="user.end_sessions")
    assert (line.object_type, line.after) == ("User", {"ended": 2})


def test_a_browser_ends_all_other_sessions_and_stays(
    static_files: None, pair: dict[str, str]
) -> None:
    page = browser()

    assert page.get("/v1/auth/sessions").json()[0]["current"] is True
    answer = page.delete("/v1/auth/sessions")

    assert answer.json() == {"ended": 1}
    assert page.get("/v1/Me").status_code == 200
    assert not opens(pair)


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", "/v1/auth/sessions"),
        ("delete", "/v1/auth/sessions"),
        ("delete", f"/v1/auth/sessions/{UNKNOWN}"),
    ],
)
def test_an_api_token_reaches_no_session(
    ada: Any, workspace: Workspace, pair: dict[str, str], method: str, address: str
) -> None:
    _, text = tokens.create_token(workspace, ada, name="ci", maker=ada, actor=Actor.of(ada))
    program = APIClient(HTTP_AUTHORIZATION=f"Bearer {text}")

    assert getattr(program, method)(address).status_code == 403
    assert opens(pair)


def test_signing_out_of_the_admin_ends_that_browser_s_session_alone(
    static_files: None, pair: dict[str, str]
) -> None:
    page, elsewhere = browser(), browser("Chrome")
    stolen = page.cookies["sessionid"].value

    page.post("/admin/logout/")

    assert Client(headers={"Cookie": f"sessionid={stolen}"}).get("/v1/Me").status_code == 401
    assert elsewhere.get("/v1/Me").status_code == 200
    assert opens(pair)


def test_who_changes_the_password_stays_signed_in_here_and_nowhere_else(
    static_files: None, pair: dict[str, str], ada: Any
) -> None:
    page, elsewhere = browser(), browser("Chrome")
    new = {"new_password1": f"{PASSWORD}!", "new_password2": f"{PASSWORD}!"}

    answer = page.post("/admin/password_change/", {"old_password": PASSWORD} | new)

    assert answer.status_code == 302
    assert page.get("/v1/Me").status_code == 200
    assert elsewhere.get("/v1/Me").status_code == 401
    assert not opens(pair)
    assert sessions.live(AccountSession.objects.all()).get().user_agent == "Firefox"


def test_a_session_s_use_is_noted_once_a_minute(pair: dict[str, str]) -> None:
    AccountSession.objects.update(
        last_used_at=F("last_used_at") - timedelta(minutes=2), last_used_from=None
    )

    opens(pair)

    row = AccountSession.objects.get()
    assert row.last_used_from == "127.0.0.1"
    assert row.last_used_at >= row.created_at
    AccountSession.objects.update(last_used_from=None)
    opens(pair)
    assert AccountSession.objects.get().last_used_from is None


def test_sessions_that_expired_are_deleted(pair: dict[str, str]) -> None:
    sign_in()
    AccountSession.objects.filter(pk=id_of(pair)).update(expires_at=F("created_at"))

    assert sessions.prune() == 1
    assert AccountSession.objects.count() == 1


def test_browser_sessions_that_are_over_are_deleted_and_no_others(ada: Any) -> None:
    over, kept = Client(), Client()
    for client in (over, kept):
        client.force_login(ada)
    Session.objects.filter(pk=over.session.session_key).update(
        expire_date=timezone.now() - timedelta(seconds=1)
    )

    assert browser_sessions.clear() == 1
    assert Session.objects.get().pk == kept.session.session_key
