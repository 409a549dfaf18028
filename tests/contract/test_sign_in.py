"""Sign-in works only by tokens, or by the session with its CSRF token."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Workspace
from tests.support.routes import addresses
from tests.support.signed_in import bearer, pair_of

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
# Webhooks and callbacks have their own authentication; the studio's pages ask people to sign in
# (tests/integration/test_studio_pages.py). A workflow's schema holds no user's data.
OPEN = (
    "v1/auth/token", "v1/auth/revoke", "v1/hooks/", "v1/callbacks/", "actuator/", "admin/", "docs",
    "credentials/oauth2/", "i18n/", "mfa/", "sso/", "studio/", "v1/schema/workflow",
)  # fmt: skip


@pytest.fixture
def ada(workspace: Workspace) -> Any:
    return get_user_model().objects.create_user("ada", password=PASSWORD)


def sign_in(client: APIClient, password: str = PASSWORD, name: str = "ada") -> Any:
    return client.post("/v1/auth/token", {"username": name, "password": password}, format="json")


def test_a_password_gives_a_token_pair_that_opens_the_api(stranger: APIClient, ada: Any) -> None:
    pair = sign_in(stranger)

    assert pair.status_code == 200
    assert set(pair.json()) == {"access", "refresh"}
    stranger.credentials(HTTP_AUTHORIZATION=f"Bearer {pair.json()['access']}")
    assert stranger.get("/v1/Workflow").status_code == 200


def test_the_case_of_the_scheme_does_not_matter(stranger: APIClient, ada: Any) -> None:
    access = bearer(ada).removeprefix("Bearer ")

    for scheme in ("bearer", "BEARER"):
        stranger.credentials(HTTP_AUTHORIZATION=f"{scheme} {access}")
        assert stranger.get("/v1/Workflow").status_code == 200


def test_a_refresh_token_gives_a_new_access_token(stranger: APIClient, ada: Any) -> None:
    refresh = pair_of(ada).refresh

    answer = stranger.post("/v1/auth/token/refresh", {"refresh": refresh}, format="json")

    assert answer.status_code == 200
    stranger.credentials(HTTP_AUTHORIZATION=f"Bearer {answer.json()['access']}")
    assert stranger.get("/v1/Workflow").status_code == 200


def test_a_wrong_password_and_an_unknown_name_look_alike(stranger: APIClient, ada: Any) -> None:
    wrong, unknown = sign_in(stranger, "wrong"), sign_in(stranger, name="nobody")

    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json() == unknown.json()
    assert wrong["Content-Type"] == "application/problem+json"


def test_guessing_passwords_is_slowed_down(stranger: APIClient, ada: Any) -> None:
    answers = [
        stranger.post("/v1/auth/token", {"username": "ada", "password": ""}, format="json")
        for _ in range(21)
    ]

    assert {answer.status_code for answer in answers[:20]} == {422}
    assert answers[20].status_code == 429
    assert int(answers[20]["Retry-After"]) > 0
    assert sign_in(stranger, name="somebody-else").status_code == 401


def test_a_made_up_forwarded_address_does_not_help_guessing(stranger: APIClient, ada: Any) -> None:
    answers = [
        stranger.post(
            "/v1/auth/token",
            {"username": f"n{n}", "password": ""},
            format="json",
            headers={"X-Forwarded-For": f"10.0.0.{n}"},
        )
        for n in range(61)
    ]

    assert answers[-1].status_code == 429


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer x", "Bearer a b", "Bearer \xff", "Basic YTpi", "", "Bearer e30.e30.e30"],
)
def test_a_token_that_is_none_is_refused(stranger: APIClient, header: str) -> None:
    answer = stranger.get("/v1/Workflow", headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answer["Content-Type"] == "application/problem+json"


def test_a_token_of_somebody_switched_off_or_gone_is_refused(stranger: APIClient, ada: Any) -> None:
    stranger.credentials(HTTP_AUTHORIZATION=bearer(ada))
    ada.is_active = False
    ada.save()
    switched_off = stranger.get("/v1/Workflow").status_code
    ada.delete()

    assert switched_off == stranger.get("/v1/Workflow").status_code == 401


def test_tokens_end_with_the_password_that_they_were_given_for(
    stranger: APIClient, ada: Any
) -> None:
    pair = sign_in(stranger).json()
    ada.set_password("another " + PASSWORD)
    ada.save()
    renewed = stranger.post("/v1/auth/token/refresh", {"refresh": pair["refresh"]}, format="json")

    for access in (pair["access"], renewed.json().get("access")):
        stranger.credentials(HTTP_AUTHORIZATION=f"Bearer {access}")
        assert stranger.get("/v1/Workflow").status_code == 401


def test_a_refresh_token_of_somebody_gone_or_switched_off_is_refused(
    stranger: APIClient, ada: Any
) -> None:
    refresh = {"refresh": pair_of(ada).refresh}
    ada.is_active = False
    ada.save()
    switched_off = stranger.post("/v1/auth/token/refresh", refresh, format="json").status_code
    ada.delete()
    gone = stranger.post("/v1/auth/token/refresh", refresh, format="json").status_code

    assert (switched_off, gone) == (401, 401)


def test_a_refresh_token_does_not_open_the_api(stranger: APIClient, ada: Any) -> None:
    stranger.credentials(HTTP_AUTHORIZATION=f"Bearer {pair_of(ada).refresh}")

    assert stranger.get("/v1/Workflow").status_code == 401


def test_a_session_changes_nothing_without_its_csrf_token(
    member: Callable[..., Any], workspace: Workspace
) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(member("WORKFLOW"))

    assert client.get("/v1/Workflow").status_code == 200
    refused = client.post("/v1/Workflow", {"name": "w"}, format="json")
    client.get("/docs", headers={"Accept": "text/html"})
    token = client.cookies["csrftoken"].value
    accepted = client.post(
        "/v1/Workflow", {"name": "w"}, format="json", headers={"X-CSRFToken": token}
    )

    assert refused.status_code == 403
    assert "CSRF" in refused.json()["detail"]
    assert accepted.status_code == 201


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "options"])
def test_a_stranger_is_told_nothing_anywhere(stranger: APIClient, method: str) -> None:
    below = [one for one in addresses(leave_out=OPEN) if one != "/"]
    tried = [*below, "/v1/Nothing", "/v1/Workflow/", "/v1/Workflow/not-an-id", "/v1"]
    assert len(tried) > 100

    statuses = {address: getattr(stranger, method)(address).status_code for address in tried}

    assert set(statuses.values()) == {401}, statuses


def test_who_is_signed_in_is_told_that_an_address_does_not_exist(author: APIClient) -> None:
    for address in ("/v1/Nothing", "/v1/Workflow/", "/v1/Workflow/not-an-id", "/v1", "/nowhere"):
        answer = author.get(address)
        assert answer.status_code == 404, address
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] == "unknown_address"
