"""Management commands find the running stack, and use its environment."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import nursery
from tests.support.stack import PROJECT, clean_environment
from valkyr_project.embedded.child import start_child
from valkyr_project.up.environment import KEY_FILE, load
from valkyr_project.up.home import open_home
from valkyr_project.up.options import UpError
from valkyr_project.up.running_stack import use_running_stack

DATABASE = "postgresql://valkyr@127.0.0.1:5433/valkyr"
REDIS = "redis://127.0.0.1:6380/0"


@contextmanager
def stack_in(folder: Path, **given: str) -> Iterator[None]:
    """Create a stack's folder, locked and announced by a process that was started with `given`."""
    supervisor = start_child(
        [sys.executable, "-c", "input()"],
        stdin=subprocess.PIPE,
        env=clean_environment() | given,
        death_signal=signal.SIGKILL,
    )
    home = open_home(folder)
    try:
        home.announce({
            "pid": supervisor.pid,
            "url": "http://127.0.0.1:8123",
            "database_url": DATABASE,
            "redis_url": REDIS,
        })  # fmt: skip
        yield
    finally:
        home.close()
        supervisor.communicate(b"\n")


def found_by(folder: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command that was started with `given`."""
    environment = {"VALKYR_HOME": str(folder), **given}
    assert use_running_stack(environment) == folder
    return environment


def test_the_addresses_and_secrets_of_the_running_stack_are_added(tmp_path: Path) -> None:
    with stack_in(tmp_path, PORT="8123"):
        found = found_by(tmp_path, {})

    assert (found["DATABASE_URL"], found["REDIS_URL"], found["PORT"]) == (DATABASE, REDIS, "8123")
    assert found["VALKYR_SECRET_KEY"] == load(tmp_path, {}).secret_key
    assert found["VALKYR_KEY_FILE"] == str(tmp_path.resolve() / KEY_FILE)
    assert found["DJANGO_SETTINGS_MODULE"] == "valkyr_project.settings"


def test_what_the_stack_was_started_with_is_added(tmp_path: Path) -> None:
    with stack_in(tmp_path, VALKYR_KEY_FILE="/keys/own", VALKYR_PLUGINS="", RUNNER_ID="one"):
        found = found_by(tmp_path, {})

    assert found["VALKYR_KEY_FILE"] == "/keys/own"
    assert found["VALKYR_PLUGINS"] == ""
    assert "RUNNER_ID" not in found
    assert not (tmp_path / KEY_FILE).exists()


def test_variables_that_are_set_win(tmp_path: Path) -> None:
    given = {"VALKYR_LOG_LEVEL": "DEBUG", "VALKYR_ADMIN_USERNAME": "ada", "DATABASE_URL": DATABASE}
    with stack_in(tmp_path, VALKYR_LOG_LEVEL="ERROR"):
        found = found_by(tmp_path, given)

    assert given.items() <= found.items()


@pytest.mark.parametrize(
    "given",
    [
        {"VALKYR_SECRET_KEY": "k" * 50, "DATABASE_URL": "postgresql://db/other"},
        {"VALKYR_INSECURE_KEY": "1"},
        {"DJANGO_SETTINGS_MODULE": "shop.settings"},
    ],
)
def test_an_environment_that_names_an_installation_is_left_alone(
    tmp_path: Path, given: dict[str, str]
) -> None:
    environment = {"VALKYR_HOME": str(tmp_path), **given}

    with stack_in(tmp_path):
        assert use_running_stack(environment) is None

    assert environment == {"VALKYR_HOME": str(tmp_path), **given}


@pytest.mark.parametrize(
    "name",
    [
        "DATABASE_URL",
        "DATABASE_DIRECT_URL",
        "REDIS_URL",
        "VALKYR_SECRET_KEY",
        "VALKYR_KEY_FILE",
        "VALKYR_KEY_URI",
    ],
)
def test_another_server_or_key_than_that_of_the_stack_is_refused(tmp_path: Path, name: str) -> None:
    with stack_in(tmp_path), pytest.raises(UpError, match=f"Unset {name} to use the stack"):
        use_running_stack({"VALKYR_HOME": str(tmp_path), name: "other://server/1"})


def test_a_stack_that_is_starting_is_named(tmp_path: Path) -> None:
    (tmp_path / "running.json").write_text('{"pid": 1, "database_url": "of a killed stack"}')
    home = open_home(tmp_path)

    with pytest.raises(UpError, match="is starting"):
        use_running_stack({"VALKYR_HOME": str(tmp_path)})

    home.close()


def test_without_a_stack_both_commands_say_what_to_set_or_start(tmp_path: Path) -> None:
    given = clean_environment() | {"VALKYR_HOME": str(tmp_path)}
    plain = nursery.run([sys.executable, "manage.py", "payload_keys", "show"], environment=given)
    command = nursery.run(
        [sys.executable, "-m", "valkyr", "manage", "payload_keys", "show"], environment=given
    )
    elsewhere = nursery.run(
        [sys.executable, "-m", "valkyr", "manage", "payload_keys", "show"],
        environment={**given, "PYTHONPATH": str(PROJECT)},
        folder=tmp_path,
    )

    assert plain.returncode == 1
    assert "Traceback" not in plain.stderr
    assert command.returncode == elsewhere.returncode == 2
    for said in (plain.stderr, " ".join(command.stderr.split())):
        assert "VALKYR_SECRET_KEY is not set" in said
        assert f"VALKYR_HOME ({tmp_path})" in said
    assert "set VALKYR_HOME" in elsewhere.stderr
