"""Settings: the source of each value, and the error for an invalid one."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError

from executions import configuration, messaging
from executions.checks import classes
from executions.configuration import settings as valkyr_settings


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    yield
    configuration.forget()


@pytest.fixture
def checking() -> Iterator[None]:
    """Collect errors as `manage.py check` does, which lists all of them instead of ending at the
    first.
    """
    configuration.tolerate(True)
    yield
    configuration.tolerate(False)


def test_every_setting_has_a_default(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VALKYR_KEY", "VALKYR_KEY_PREFIX", "VALKYR_REMOTE_QUEUES", "VALKYR_PYTHON_CODE",
                 "VALKYR_JAVASCRIPT_CODE"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    del settings.VALKYR

    for kind in classes():
        assert configuration.read(kind) == kind()


def test_the_dictionary_says_it(settings: Any) -> None:
    settings.VALKYR = {"LEASE_SECONDS": 7, "TRUSTED_PROXIES": ["10.0.0.0/8"], "QUEUE_PREFIX": "x-"}

    assert valkyr_settings().lease_seconds == 7
    assert valkyr_settings().trusted_proxies == (ip_network("10.0.0.0/8"),)
    assert valkyr_settings().queue_prefix == "x-"


def test_a_variable_of_the_environment_comes_first(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VALKYR = {"LEASE_SECONDS": 7, "CHECKPOINT_ENABLED": True, "THREAD_QUEUES": ["a"]}
    monkeypatch.setenv("VALKYR_LEASE_SECONDS", "8.5")
    monkeypatch.setenv("CHECKPOINT_ENABLED", "0")
    monkeypatch.setenv("VALKYR_THREAD_QUEUES", "b, c")

    assert valkyr_settings().lease_seconds == 8.5
    assert valkyr_settings().checkpoint_enabled is False
    assert valkyr_settings().thread_queues == ("b", "c")


def test_an_empty_variable_is_unset(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.VALKYR = {"LEASE_SECONDS": 7}
    monkeypatch.setenv("VALKYR_LEASE_SECONDS", " ")

    assert valkyr_settings().lease_seconds == 7


@pytest.mark.parametrize(
    ("entry", "value", "said"),
    [
        ("LEASE_SECONDS", "soon", "VALKYR['LEASE_SECONDS'] is 'soon'; expected a number."),
        ("LEASE_SECONDS", -1, "VALKYR['LEASE_SECONDS'] is -1; expected more than 0."),
        ("API_RATE", 1.5, "VALKYR['API_RATE'] is 1.5; expected a whole number"),
        ("METRICS_PORT", 70_000, "VALKYR['METRICS_PORT'] is 70000; expected at most 65535."),
        ("CHECKPOINT_ENABLED", "maybe", "is 'maybe'; expected True or False"),
        ("TRUSTED_PROXIES", ["here"], "such as 10.0.0.0/8, not 'here'."),
        (
            "REMOTE_QUEUES",
            ["control"],
            ("names other than control, which Valkyr's own workers serve"),
        ),
        ("LOOP_LIMIT_DEFAULT", 5_000, "expected 1 to 1000 (LOOP_LIMIT_CONDITION)"),
        pytest.param(
            "HTTP_ALLOWED_NETWORKS",
            "intranet",
            "VALKYR['HTTP_ALLOWED_NETWORKS'] is 'intranet'",
            marks=pytest.mark.plugins,
        ),
        (
            "LEASE_SECOND",
            20,
            "VALKYR['LEASE_SECOND'] is not a setting of Valkyr. Do you mean 'LEASE_",
        ),
        (
            "lease_seconds",
            20,
            "VALKYR['lease_seconds'] is not a setting of Valkyr. Do you mean 'LE",
        ),
        ("VALKYR_LEASE_SECONDS", 20, "is not a setting of Valkyr. Do you mean 'LEASE_SECONDS'?"),
    ],
)
def test_the_check_names_what_makes_no_sense(
    checking: None,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    entry: str,
    value: Any,
    said: str,
) -> None:
    monkeypatch.delenv(f"VALKYR_{entry}", raising=False)
    settings.VALKYR = settings.VALKYR | {entry: value}

    with pytest.raises(SystemCheckError, match=r"valkyr\.E001") as caught:
        call_command("check")
    assert said in str(caught.value)


def test_a_secret_is_not_shown(checking: None, settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"METRICS_TOKEN": "hunter2"}

    with pytest.raises(SystemCheckError) as caught:
        call_command("check")
    assert "hunter2" not in str(caught.value)
    assert "expected 16 characters or more" in str(caught.value)
    settings.VALKYR = settings.VALKYR | {"METRICS_TOKEN": "long-enough-to-be-one"}
    assert "long-enough" not in repr(valkyr_settings())


def test_what_is_no_dictionary_is_named(checking: None, settings: Any) -> None:
    settings.VALKYR = ["LEASE_SECONDS"]

    with pytest.raises(SystemCheckError, match="VALKYR is list; expected a dictionary"):
        call_command("check")


def test_whoever_uses_a_bad_setting_is_told_which(settings: Any) -> None:
    settings.VALKYR = {"LEASE_SECONDS": "soon"}

    with pytest.raises(ImproperlyConfigured, match=r"VALKYR\['LEASE_SECONDS'\] is 'soon'"):
        valkyr_settings()


def test_a_page_that_is_behind_is_refused(tmp_path: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- settings: begin -->\nold\n<!-- settings: end -->\nafter\n")

    with pytest.raises(CommandError, match="is not current"):
        call_command("describe_settings", into=page, check=True)
    call_command("describe_settings", into=page)

    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("\nafter\n")
    assert "| `LEASE_SECONDS` | 20 seconds |" in page.read_text()
    assert "| `PAYLOAD_STORE_LIMIT` | 67108864 bytes |" in page.read_text()


def test_a_queue_of_the_projects_own_keeps_its_name(settings: Any) -> None:
    settings.VALKYR = {"CELERY_QUEUES": ["images"], "QUEUE_PREFIX": "valkyr."}

    assert messaging.at_broker("images") == "images"
    assert messaging.at_broker("io") == "valkyr.io"
    assert messaging.ours_among(["images", "valkyr.io", "letters"]) == ["images", "io"]


def test_a_queue_of_ours_cannot_be_the_projects(settings: Any) -> None:
    settings.VALKYR = {"CELERY_QUEUES": ["io"]}

    with pytest.raises(Exception, match="Valkyr reserves"):
        valkyr_settings()
