"""What the environment may say about an identity provider, and what is refused at the start."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from valkyr_plugins.sso.configuration import (
    Grant,
    SingleSignOn,
    from_environment,
    groups_in,
    read_groups,
    roles_for,
)

GOOD = {
    "VALKYR_OIDC_ISSUER": "https://id.example.org/realms/x",
    "VALKYR_OIDC_CLIENT_ID": "valkyr",
    "VALKYR_OIDC_CLIENT_SECRET": "s3cret",
}


def read(monkeypatch: Any, **more: str) -> SingleSignOn | None:
    for name, value in (GOOD | more).items():
        monkeypatch.setenv(name, value)
    return from_environment()


def test_without_an_issuer_there_is_no_provider(monkeypatch: Any) -> None:
    assert from_environment() is None
    monkeypatch.setenv("VALKYR_OIDC_ONLY", "1")
    with pytest.raises(ImproperlyConfigured, match="nobody could sign in"):
        from_environment()


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
