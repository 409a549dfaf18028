"""In any project, an unexpected error becomes a problem document and reaches error collectors."""

from typing import Any

import pytest
from django.core.signals import got_request_exception
from rest_framework.test import APIClient

from executions.api.me import Me
from tests.contract.people import a_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(self: Any, request: Any) -> Any:
        raise ZeroDivisionError("the secret is 42")

    monkeypatch.setattr(Me, "get", get)


def ask(address: str) -> Any:
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(a_member("ADMIN"))
    return client.get(address)


@pytest.mark.parametrize("prefix", ["", "/flows"])
def test_it_is_answered_as_a_problem_and_logged_once(
    broken: None, settings: Any, caplog: pytest.LogCaptureFixture, prefix: str
) -> None:
    heard = []

    def hear(sender: Any, request: Any, **_: Any) -> None:
        heard.append(request.path)

    if prefix:
        settings.ROOT_URLCONF = "tests.hostile.urls"
    got_request_exception.connect(hear)
    try:
        answer = ask(f"{prefix}/v1/Me")
    finally:
        got_request_exception.disconnect(hear)

    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert "42" not in answer.content.decode()
    assert heard == [f"{prefix}/v1/Me"]
    (line,) = [one for one in caplog.records if one.name == "django.request"]
    assert line.exc_info is not None
    assert "ZeroDivisionError" in str(line.exc_info[0])


def test_while_developing_django_shows_where(broken: None, settings: Any) -> None:
    settings.DEBUG = True

    assert "ZeroDivisionError" in ask("/v1/Me").content.decode()
