"""`manage.py check` names what a project lacks for the API and the pages."""

from typing import Any

import pytest
from django.urls import path

from executions import checks

urlpatterns = [path("cars", lambda request: None)]  # type: ignore[arg-type, misc]


def ids(found: list[Any]) -> list[str]:
    return [one.id for one in found]


def test_the_platform_lacks_nothing() -> None:
    assert checks.addresses_are_there() == []
    assert checks.authentication_is_there() == []
    assert checks.sessions_can_be_ended() == []


def test_a_urlconf_without_our_routes_is_told_how_to_include_them(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__

    (found,) = checks.addresses_are_there()

    assert found.id == "executions.W101"
    assert __name__ in found.msg
    assert 'include("valkyr.urls")' in found.hint


@pytest.mark.parametrize("named", ["nowhere.Nothing", "builtins.int"])
def test_an_authentication_class_that_is_none_is_named(settings: Any, named: str) -> None:
    settings.VALKYR = {"AUTHENTICATION_CLASSES": [named]}

    assert ids(checks.authentication_is_there()) == ["executions.E102"]


def test_django_s_own_middleware_is_known_not_to_end_sessions(settings: Any) -> None:
    settings.MIDDLEWARE = [checks.DJANGOS]

    (found,) = checks.sessions_can_be_ended()

    assert found.id == "executions.W103"
    assert checks.SESSIONS in found.hint


def test_row_level_security_without_its_middleware_is_reported(settings: Any) -> None:
    settings.MIDDLEWARE = [checks.DJANGOS]
    settings.VALKYR = {"ROW_LEVEL_SECURITY": True}

    (found,) = checks.pages_are_limited()

    assert found.id == "executions.W104"
    assert checks.ROW_SECURITY in found.hint

    settings.MIDDLEWARE = [checks.DJANGOS, checks.ROW_SECURITY]
    assert checks.pages_are_limited() == []
