"""Every header of every kind of page; add a page of a new kind to the table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.test import Client

from tests.support.coroutines import awaited
from tests.support.rates import forget_rates
from valkyr_project.http.asgi_middleware import Gate
from valkyr_project.http.handler import Handler
from valkyr_project.http.middleware import ADMIN_POLICY, PERMISSIONS

pytestmark = pytest.mark.django_db

POLICY = {f"{name} {' '.join(values)}" for name, values in ADMIN_POLICY.items()}
# A page of ours without the admin's theme.
DOCS = {rule for rule in POLICY if not rule.startswith("style-src-elem")}
ALWAYS = {
    "Permissions-Policy": PERMISSIONS,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# Other allowed values; none names a server or its version.
OTHERS = {
    "Content-Security-Policy",
    "Cache-Control",
    "Content-Length",
    "Content-Type",
    "Content-Language",
    "Vary",
    "Location",
    "Set-Cookie",
    "Allow",
    "WWW-Authenticate",
    "Expires",
    "Link",
    "ETag",
    "Strict-Transport-Security",
    "Content-Disposition",
}
PAGES = {
    "home": "/",
    "sign-in page": "/admin/login/",
    "dashboard": "/admin/",
    "list": "/admin/executions/workflow/",
    "form": "/admin/executions/workflow/add/",
    "no such page of the admin": "/admin/nowhere/",
    "API": "/v1/Workflow",
    "API, older": "/api/v1/workflow/executions/queue/0198c2b0-0000-7000-8000-000000000000",
    "API, not there": "/v1/Workflow/0198c2b0-0000-7000-8000-000000000000",
    "API, no such address": "/v1/Nothing",
    "schema": "/v1/schema",
    "API's pages": "/docs",
    "health": "/actuator/health",
    "no such page": "/nowhere",
    "single sign-on, off": "/sso/begin",
}


@pytest.fixture(params=["stranger", "operator"])
def anybody(request: Any, client: Client, django_user_model: Any) -> Client:
    """Return an anonymous client, or a client of a user who may see everything."""
    if request.param == "operator":
        client.force_login(
            django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
        )
    return client


def policy_of(answer: Any) -> set[str]:
    return set(answer["Content-Security-Policy"].split("; "))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_how_it_may_be_used_and_no_more(anybody: Client, page: str) -> None:
    for accept in ("text/html", "application/json"):
        answer = anybody.get(PAGES[page], headers={"Accept": accept})

        said = dict(answer.headers)
        assert answer.status_code < 500
        assert {name: said.pop(name, None) for name in ALWAYS} == ALWAYS
        assert policy_of(answer) == (DOCS if page == "API's pages" else POLICY)
        assert "no-store" in said["Cache-Control"]
        assert set(said) <= OTHERS


def test_answers_to_changes_are_not_kept_either(author: Any, greeting: dict[str, Any]) -> None:
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    accepted = author.post(address, {"params": {"name": "Ada"}}, format="json")
    refused = author.post(address, {"nonsense": 1}, format="json")

    for answer in (accepted, refused):
        assert answer["Cache-Control"] == "no-store"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert policy_of(answer) == POLICY


def test_no_policy_allows_a_script_of_somebody_else() -> None:
    assert ADMIN_POLICY["default-src"] == ["'none'"]
    assert ADMIN_POLICY["script-src"] == ["'self'"]
    assert ADMIN_POLICY["frame-ancestors"] == ADMIN_POLICY["base-uri"] == ["'none'"]
    assert ADMIN_POLICY["form-action"] == ADMIN_POLICY["connect-src"] == ["'self'"]


def test_static_files_may_be_kept(settings: Any) -> None:
    (Path(settings.STATIC_ROOT) / "page.css").write_text("p { color: red }")
    answer = Client().get("/static/page.css")
    answer.close()

    assert answer.status_code == 200
    assert answer["Cache-Control"].startswith("max-age=")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"


def test_cookies_are_for_our_pages_alone(client: Client, django_user_model: Any) -> None:
    django_user_model.objects.create_user("ada", password="correct horse", is_staff=True)
    client.get("/admin/login/")
    client.post("/admin/login/", {"username": "ada", "password": "correct horse"})

    session, csrf = client.cookies["sessionid"], client.cookies["csrftoken"]
    assert session["httponly"]
    assert session["samesite"] == csrf["samesite"] == "Lax"
    assert session["max-age"] == 12 * 3600


def test_guessing_passwords_at_the_admins_door_is_slowed_down(
    client: Client, django_user_model: Any
) -> None:
    django_user_model.objects.create_user("ada", password="correct horse", is_staff=True)
    for _ in range(20):
        client.post("/admin/login/", {"username": "ada", "password": ""})
    wrong = client.post("/admin/login/", {"username": "ADA", "password": "wrong"})
    right = client.post("/admin/login/", {"username": "ada", "password": "correct horse"})

    for answer in (wrong, right):
        assert "More than 20 sign-ins with this name in a minute" in answer.content.decode()
    assert "_auth_user_id" not in client.session
    forget_rates()
    client.post("/admin/login/", {"username": "ada", "password": "correct horse"})
    assert "_auth_user_id" in client.session


def test_behind_https_browsers_are_told_to_stay_there(client: Client, settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    fresh = Client()

    plain = fresh.get("/admin/login/")
    safe = fresh.get("/admin/login/", headers={"X-Forwarded-Proto": "https"})

    assert (plain.status_code, plain["Location"]) == (301, "https://testserver/admin/login/")
    assert safe["Strict-Transport-Security"].startswith("max-age=31536000; includeSubDomains")


@awaited
async def send(**more: Any) -> httpx.Response:
    application = Gate(Handler(), django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    transport = httpx.ASGITransport(application)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.post("/v1/Workflow", **more)


def test_a_refused_body_is_not_sniffed_nor_kept() -> None:
    answer = send(content=b"x" * (django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1))

    assert answer.status_code == 413
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_host_header_chooses_nothing(client_of: Callable[..., Any], client: Client) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "[::1].x"):
        answer = client.get("/", headers={"Host": host})
        assert answer.status_code == 400, host
        assert "evil" not in answer.content.decode()
