"""While PostgreSQL does not answer, every URL says so, and when to repeat the request."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import URLPattern, get_resolver

from executions.accounts.token_sessions import SessionAccess

# Needs no row: whether the process lives, the start page, and methods that an address lacks.
WITHOUT_DATABASE = {
    "/", "/docs", "/docs/errors", "/openapi.json", "/v1/schema/workflow", "/actuator/health/live",
}  # fmt: skip


@pytest.fixture
def no_database(django_db_blocker: Any) -> Iterator[None]:
    """Let connections to the database be rejected."""
    with django_db_blocker.unblock():
        connection.close()
        port = connection.settings_dict["PORT"]
        connection.settings_dict["PORT"] = "1"
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["PORT"] = port


@pytest.fixture
def client() -> Client:
    token = SessionAccess()
    token["user_id"] = "1"
    token["sid"] = str(uuid4())
    token["hash_password"] = "x"
    one = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {token}"})
    one.cookies["sessionid"] = "a" * 32
    return one


@pytest.mark.parametrize("method", ["get", "post"])
def test_no_address_fails_or_lies_about_it(
    no_database: None, static_files: None, client: Client, method: str
) -> None:
    answers = {path: getattr(client, method)(path) for path in sorted(_addresses())}

    statuses = {path: answer.status_code for path, answer in answers.items()}
    assert not {path: code for path, code in statuses.items() if code >= 500 and code != 503}
    unavailable = {path: answer for path, answer in answers.items() if answer.status_code == 503}
    assert len(unavailable) > 0.8 * len(answers)
    assert all(int(answer["Retry-After"]) >= 1 for answer in unavailable.values())
    done = {path for path, code in statuses.items() if code < 400}
    assert done <= WITHOUT_DATABASE, "answered as if all were well"


def test_people_get_a_page(no_database: None, static_files: None, client: Client) -> None:
    page = client.get("/admin/")

    assert page.status_code == 503
    assert page["Content-Type"].startswith("text/html")
    assert "The database is not available" in page.content.decode()


def test_programs_get_a_problem(no_database: None, client: Client) -> None:
    answer = client.get("/v1/WorkflowExecution")

    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert answer["Content-Type"] == "application/problem+json"
    # The connection may have broken during the commit.
    assert "check whether the change was saved" in answer.json()["detail"]
    assert "Nothing was changed" not in answer.json()["detail"]


def _addresses() -> set[str]:
    """Return one URL of every route, with invented ids."""
    return {_filled(route) for route in _routes(get_resolver().url_patterns, "")}


def _routes(patterns: list[Any], before: str) -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from _routes(pattern.url_patterns, route)


def _filled(route: str) -> str:
    route = re.sub(r"<uuid:[^>]+>", str(uuid4()), route)
    route = re.sub(r"<int:[^>]+>", "1", route)
    route = re.sub(r"\(\?[P:][^)]*\)\??|<[^>]+>", "a", route)
    return "/" + re.sub(r"[\^$\\]|\\Z", "", route).lstrip("/")
