"""Tests of the settings of an identity provider: valid ones, and ones rejected at the start."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions.configuration import forget
from valkyr_plugins.sso.apps import SsoConfig
from valkyr_plugins.sso.conf import Grant, read_groups
from valkyr_plugins.sso.configuration import SingleSignOn, configured, groups_in, roles_for

GOOD = {
    "VALKYR_OIDC_ISSUER": "https://id.example.org/realms/x",
    "VALKYR_OIDC_CLIENT_ID": "valkyr",
    "VALKYR_OIDC_CLIENT_SECRET": "s3cret",
}


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """Clear the settings, so that these tests do not see those of others."""
    forget()
    yield
    forget()


def read(monkeypatch: Any, **more: str) -> SingleSignOn | None:
    for name, value in (GOOD | more).items():
        monkeypatch.setenv(name, value)
    return configured()


def test_without_an_issuer_there_is_no_provider(monkeypatch: Any) -> None:
    assert configured() is None
    monkeypatch.setenv("VALKYR_OIDC_ONLY", "1")
    forget()
    with pytest.raises(ImproperlyConfigured, match="no user could sign in"):
        configured()


def test_a_project_names_its_provider_in_its_settings(settings: Any) -> None:
    settings.VALKYR = {name.removeprefix("VALKYR_"): value for name, value in GOOD.items()} | {
        "OIDC_ROLES": {"g": "default:ADMIN"},
        "OIDC_DOMAINS": ["example.org"],
    }

    sso = configured()

    assert sso is not None
    assert sso.issuer == GOOD["VALKYR_OIDC_ISSUER"]
    assert sso.groups == {"g": (Grant("default", "ADMIN"),)}
    assert sso.domains == ("example.org",)


def test_the_settings_of_a_project_that_have_no_more_than_they_must_get_all_that_is_needed() -> (
    None
):
    own = {
        "INSTALLED_APPS": ("shop", "allauth", "valkyr_plugins.sso"),
        "MIDDLEWARE": ("shop.middleware",),
        "TEMPLATES": [{"OPTIONS": {"context_processors": []}}],
    }

    SsoConfig.configure(own)

    assert own["INSTALLED_APPS"] == [
        "shop", "allauth", "allauth.account", "allauth.socialaccount", "valkyr_plugins.sso",
    ]  # fmt: skip
    assert own["AUTHENTICATION_BACKENDS"] == [
        "valkyr_plugins.sso.backends.PasswordBackend",
        "valkyr_plugins.sso.backends.SingleSignOnBackend",
    ]
    assert own["MIDDLEWARE"][-1] == "allauth.account.middleware.AccountMiddleware"
    assert "may_use_a_password" in own["SIMPLE_JWT"]["USER_AUTHENTICATION_RULE"]


def test_the_environment_is_read_and_the_secret_never_shown(monkeypatch: Any) -> None:
    sso = read(
        monkeypatch,
        VALKYR_OIDC_SCOPES="email groups",
        VALKYR_OIDC_DOMAINS="Example.org, @example.com",
        VALKYR_OIDC_ROLES='{"g": ["default:ADMIN", "lab:USER"], "h": "lab:SYSTEM"}',
    )

    assert sso is not None
    assert sso.scopes == ("openid", "email", "groups")
    assert sso.domains == ("example.org", "example.com")
    assert sso.groups["g"] == (Grant("default", "ADMIN"), Grant("lab", "USER"))
    assert "s3cret" not in repr(sso)


def test_the_secret_may_come_from_a_file(monkeypatch: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from a file\n")
    sso = read(
        monkeypatch,
        VALKYR_OIDC_CLIENT_SECRET="",
        VALKYR_OIDC_CLIENT_SECRET_FILE=str(tmp_path / "secret"),
    )

    assert sso is not None
    assert sso.client_secret == "from a file"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VALKYR_OIDC_ISSUER", "http://id.example.org"),
        ("VALKYR_OIDC_ISSUER", "id.example.org"),
        ("VALKYR_OIDC_ISSUER", "https://id.example.org?x=1"),
        ("VALKYR_OIDC_ISSUER", "https://id.example.org/" + "x" * 200),
        ("VALKYR_OIDC_CLIENT_ID", ""),
        ("VALKYR_OIDC_CLIENT_SECRET", ""),
        ("VALKYR_OIDC_CLIENT_SECRET_FILE", "/nowhere"),
        ("VALKYR_OIDC_ROLES", "engineers"),
        ("VALKYR_OIDC_ROLES", "[]"),
        ("VALKYR_OIDC_ROLES", '{"g": "default:OWNER"}'),
        ("VALKYR_OIDC_ROLES", '{"g": "default"}'),
        ("VALKYR_OIDC_ROLES", '{"g": 7}'),
    ],
)
def test_a_setting_that_makes_no_sense_stops_the_start_by_name(
    monkeypatch: Any, name: str, value: str
) -> None:
    more = {name: value}
    if name.endswith("_FILE"):
        more["VALKYR_OIDC_CLIENT_SECRET"] = ""
    with pytest.raises(ImproperlyConfigured, match=name):
        read(monkeypatch, **more)


def test_of_two_roles_in_a_workspace_the_stronger_counts() -> None:
    grants = read_groups('{"a": "x:USER", "b": "x:ADMIN", "c": ["x:WORKFLOW", "y:SYSTEM"]}')

    assert roles_for(["a", "c", "b", "none"], grants) == {"x": "ADMIN", "y": "SYSTEM"}


@pytest.mark.parametrize(
    ("value", "found"),
    [(["a", 1, "b"], ["a", "b"]), ("a", ["a"]), ({"a": 1}, []), (None, []), (7, [])],
)
def test_groups_are_a_list_or_one_text(value: Any, found: list[str]) -> None:
    assert groups_in({"groups": value}, "groups") == found
