"""A project's settings do not change the API under its prefix (`tests/hostile`).

The project's process and the stand-alone platform's use one database, and get the same requests.
"""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth import get_user_model
from django.test import override_settings

from executions.models import Workspace
from tests.contract.people import GREETING, a_member, a_workspace
from tests.support.rates import forget_rates
from tests.support.routes import addresses
from tests.support.signed_in import bearer
from tests.support.web import web_process

pytestmark = pytest.mark.django_db(transaction=True)
PREFIX = "/flows"
HOST = {"DJANGO_SETTINGS_MODULE": "tests.hostile.settings", "VALKYR_API_RATE": "0"}
# Public: health, webhooks, callbacks, tokens, the schema of workflows.
OPEN = (
    "/v1/auth/token", "/v1/auth/revoke", "/v1/hooks/", "/v1/callbacks/", "/v1/schema/workflow",
    "/docs/errors", "/actuator/",
)  # fmt: skip
PAGES = ("/studio/", "/sso/", "/mfa/", "/credentials/oauth2/")  # these redirect to the sign-in page
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")


@pytest.fixture(scope="module")
def processes(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """Yield clients of the project and of the platform."""
    logs = tmp_path_factory.mktemp("web")
    unlimited = {"VALKYR_API_RATE": "0", "VALKYR_REFUSAL_RATE": "0"}
    with (
        web_process(
            logs / "host.log", "tests.hostile.asgi:application", PREFIX, **HOST | unlimited
        ) as host,
        web_process(logs / "platform.log", **unlimited) as platform,
        httpx.Client(base_url=host, timeout=120) as ours,
        httpx.Client(base_url=platform, timeout=120) as theirs,
    ):
        yield ours, theirs


@pytest.fixture
def host(processes: tuple[httpx.Client, httpx.Client]) -> httpx.Client:
    return processes[0]


@pytest.fixture
def platform(processes: tuple[httpx.Client, httpx.Client]) -> httpx.Client:
    return processes[1]


@pytest.fixture
def ada() -> dict[str, str]:
    """Return the headers of a user who may write workflows."""
    forget_rates()
    a_workspace()
    return {"Authorization": bearer(a_member("ADMIN"))}


def below() -> list[str]:
    """Return each of Valkyr's URLs, without the project's prefix."""
    found = addresses("valkyr.urls", leave_out=())
    return [one for one in found if not one.startswith((*OPEN, *PAGES))]


def test_a_stranger_is_told_nothing_at_any_address(host: httpx.Client) -> None:
    tried = [*below(), "/v1/Workflow/", "/v1/Workflow/no-id", "/v1/Run/a/b"]
    assert len(tried) > 100

    answers = {
        (method, one): host.request(method, f"{PREFIX}{one}") for one in tried for method in METHODS
    }

    wrong = {asked: answer.status_code for asked, answer in answers.items()}
    assert {asked: code for asked, code in wrong.items() if code != 401} == {
        # A page: requests to it need Django's CSRF token.
        (method, "/docs"): 200 if method == "OPTIONS" else 403
        for method in METHODS
        if method not in ("GET", "HEAD")
    }


def test_what_is_open_answers_as_the_platform_does(
    host: httpx.Client, platform: httpx.Client
) -> None:
    for method, address, body in (
        ("GET", "/actuator/health/live", None),
        ("POST", "/v1/auth/token", {"username": "nobody", "password": "nothing"}),
        ("POST", "/v1/auth/token", {}),
        ("POST", f"/v1/hooks/{uuid4()}", {}),
        ("POST", "/v1/callbacks/made-up", {}),
    ):
        assert_same(host, platform, method, address, json=body)


def test_who_is_signed_in_gets_what_the_platform_answers(
    host: httpx.Client, platform: httpx.Client, ada: dict[str, str]
) -> None:
    made = host.post(f"{PREFIX}/v1/Workflow", json={"definition": GREETING}, headers=ada)
    assert made.status_code == 201, made.text
    workflow = made.json()["id"]
    assert made.headers["Location"] == f"{PREFIX}/v1/Workflow/{workflow}"
    host.post(f"{PREFIX}/v1/Workflow", json={"name": "second"}, headers=ada)

    one = f"/v1/Workflow/{workflow}"
    for method, address, more in (
        ("GET", "/v1/Workflow", {}),
        ("GET", "/v1/Workflow?limit=1", {}),
        ("GET", "/v1/Workflow?colour=red", {}),
        ("GET", one, {}),
        ("GET", f"{one}/export", {}),
        ("GET", f"{one}/export", {"headers": {"Accept": "application/json"}}),
        ("GET", one, {"headers": {"Accept": "text/html"}}),
        ("OPTIONS", one, {}),
        ("PUT", "/v1/Workflow", {"json": {}}),
        ("POST", "/v1/Workflow", {"json": {"name": 1, "colour": "red"}}),
        ("POST", "/v1/Workflow", {"data": {"name": "form"}}),
        (
            "POST",
            "/v1/Workflow",
            {"content": b"{", "headers": {"Content-Type": "application/json"}},
        ),
        ("GET", "/v1/WorkflowExecution?createdAfter=yesterday", {}),
        ("GET", "/v1/WorkflowExecution?createdAfter=2020-01-01T00:00:00Z", {}),
        ("GET", f"/v1/Workflow/{uuid4()}", {}),
        ("GET", "/v1/Workflow/no-id", {}),
        ("GET", "/v1/Me", {}),
        ("GET", "/v1/Tier", {}),
        ("GET", "/v1/ModuleType", {}),
        ("GET", "/v1/Activity", {}),
    ):
        headers = ada | more.pop("headers", {})
        assert_same(host, platform, method, address, headers=headers, **more)


def test_messages_are_in_english_whatever_the_project_speaks(
    host: httpx.Client, ada: dict[str, str]
) -> None:
    answer = host.post(
        f"{PREFIX}/v1/Event", json={}, headers=ada | {"Accept-Language": "fr"}
    ).json()

    assert "required" in json.dumps(answer), answer


def test_the_next_page_is_below_the_prefix(host: httpx.Client, ada: dict[str, str]) -> None:
    for name in ("first", "second"):
        host.post(f"{PREFIX}/v1/Workflow", json={"name": name}, headers=ada)

    first = host.get(f"{PREFIX}/v1/Workflow?limit=1", headers=ada)
    second = host.get(first.links["next"]["url"], headers=ada)

    assert first.links["next"]["url"].startswith(
        f"{str(host.base_url).rstrip('/')}{PREFIX}/v1/Workflow?"
    )
    assert second.status_code == 200
    assert second.json()[0]["id"] != first.json()[0]["id"]


def test_the_project_signs_people_in_its_own_way(host: httpx.Client, ada: dict[str, str]) -> None:
    user = get_user_model().objects.get(username="admin-default")

    me = host.get(f"{PREFIX}/v1/Me", headers={"Authorization": f"Badge {user.username}"})
    none = host.get(f"{PREFIX}/v1/Me", headers={"Authorization": "Bearer whatever"})

    assert me.status_code == 200, me.text
    assert me.json()["username"] == user.username
    assert none.status_code == 401


def test_each_document_describes_its_own(
    host: httpx.Client, platform: httpx.Client, ada: dict[str, str]
) -> None:
    accept = {"Accept": "application/json"}
    before = host.get("/document", headers=accept).json()
    ours = host.get(f"{PREFIX}/v1/schema", headers=ada | accept).json()
    theirs = platform.get("/v1/schema", headers=ada | accept).json()

    assert host.get("/document", headers=accept).json() == before
    assert before["info"]["title"] == "Host"
    assert list(before["paths"]) == ["/inserted/cars"]
    assert ours.pop("servers")[0]["url"] == f"{str(host.base_url).rstrip('/')}{PREFIX}"
    theirs.pop("servers")
    assert ours == theirs


def test_answers_are_for_the_caller_alone(host: httpx.Client, ada: dict[str, str]) -> None:
    for headers in ({}, ada):
        answer = host.get(f"{PREFIX}/v1/Workflow", headers=headers)
        assert answer.headers["Cache-Control"] == "no-store"


@override_settings(ROOT_URLCONF="tests.hostile.urls")
def test_a_workspace_is_told_its_own_address(client: Any) -> None:
    from executions import addresses as found

    assert found.api("workspaces") == f"{PREFIX}/v1/Workspace"
    assert found.root() == f"{PREFIX}/"
    assert Workspace.objects.count() == 0


def assert_same(
    host: httpx.Client, platform: httpx.Client, method: str, address: str, **more: Any
) -> None:
    """Check that both processes give the same answer, except for the prefix."""
    # The platform compresses its answers, the host does not: such an answer has a weak ETag.
    more["headers"] = {"Accept-Encoding": "identity"} | more.get("headers", {})
    ours = host.request(method, f"{PREFIX}{address}", **more)
    theirs = platform.request(method, address, **more)

    assert (ours.status_code, plain(ours)) == (theirs.status_code, plain(theirs)), address
    for name in ("Content-Type", "WWW-Authenticate", "Allow", "ETag", "Cache-Control"):
        assert ours.headers.get(name) == theirs.headers.get(name), (address, name)


def plain(answer: httpx.Response) -> str:
    return answer.text.replace(f'"{PREFIX}/', '"/')
