"""Tests of the sandbox that `python.code` gets, and of the setting that decides."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured

from runners.modules.base import StepError
from tests.support.code_fixtures import needs_bubblewrap
from valkyr_plugins.connectors.checks import code_sandbox as check
from valkyr_plugins.connectors.code.sandbox import announce, chosen

DENIED = "bwrap: No permissions to create new namespace"


@pytest.fixture(params=["missing", "denied"])
def cause(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Make bubblewrap fail as if it were not installed, or as in a container; return the reason."""
    monkeypatch.setenv("PATH", str(tmp_path))
    if request.param == "missing":
        return "there is no program bwrap on the PATH"
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho '{DENIED}' >&2\nexit 1\n")
    program.chmod(0o755)
    return DENIED


@pytest.fixture
def start_worker(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return a function that starts a worker's announcement and returns its log lines."""

    def start() -> list[str]:
        with caplog.at_level(logging.INFO, "valkyr_plugins.connectors"):
            announce()
        return [one.getMessage() for one in caplog.records if one.name.endswith("code.sandbox")]

    return start


def set_to(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("VALKYR_CODE_SANDBOX", name)


def told(found: list[CheckMessage]) -> tuple[str | None, str]:
    [message] = found
    assert "docs/how-to/code-sandbox.md" in (message.hint or "")
    return message.id, str(message.msg)


def test_auto_falls_back_to_the_built_in_sandbox_and_says_why(
    cause: str, start_worker: Callable[[], list[str]]
) -> None:
    said = start_worker()

    assert chosen().name == "builtin"
    assert said == [f"code of workflows runs in the built-in sandbox: {said[0].partition(': ')[2]}"]
    assert cause in said[0]
    name, message = told(check())
    assert name == "valkyr.I040"
    assert cause in message


def test_bubblewrap_is_not_replaced_where_it_does_not_work(
    cause: str, start_worker: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_to(monkeypatch, "bubblewrap")
    said = start_worker()

    with pytest.raises(StepError, match="VALKYR_CODE_SANDBOX is bubblewrap, which does not") as no:
        chosen()
    assert cause in no.value.message
    assert said == [no.value.message]
    name, message = told(check())
    assert name == "valkyr.W041"
    assert cause in message


@pytest.mark.parametrize("name", ["auto", "bubblewrap"])
def test_bubblewrap_is_used_where_it_works(
    name: str, start_worker: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_bubblewrap()
    set_to(monkeypatch, name)
    said = start_worker()

    assert chosen().name == "bubblewrap"
    assert said == ["code of workflows runs in the sandbox bubblewrap"]
    assert check() == []


def test_the_built_in_sandbox_can_be_asked_for(
    start_worker: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_to(monkeypatch, "builtin")
    said = start_worker()

    assert chosen().name == "builtin"
    assert said == ["code of workflows runs in the sandbox builtin"]
    assert told(check())[0] == "valkyr.I040"


def test_nothing_is_tried_or_said_where_code_is_off(
    start_worker: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_PYTHON_CODE", "0")
    monkeypatch.setenv("VALKYR_JAVASCRIPT_CODE", "0")
    said = start_worker()

    assert (said, check()) == ([], [])


@pytest.mark.parametrize("name", ["VALKYR_PYTHON_CODE", "VALKYR_JAVASCRIPT_CODE"])
def test_code_in_one_language_is_enough_to_try_it(
    name: str, start_worker: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_to(monkeypatch, "builtin")
    monkeypatch.setenv(name, "0")

    assert start_worker() == ["code of workflows runs in the sandbox builtin"]


def test_another_sandbox_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to(monkeypatch, "firejail")

    with pytest.raises(ImproperlyConfigured, match="expected 'auto', 'bubblewrap' or 'builtin'"):
        chosen()
