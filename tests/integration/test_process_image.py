"""The image of `make up`: its processes share loaded code, but no state."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support import image_report
from tests.support.stack import PROJECT, clean_environment
from tests.support.waiting import wait_until_gone
from valkyr_project.image.client import ForkedProcess, ProcessImage

REPORT = (sys.executable, "-m", image_report.__name__)
ROLES = {
    "web": {"VALKYR_PROCESS": "web", "VALKYR_POOL": "threads"},
    "worker": {"VALKYR_PROCESS": "worker-default", "VALKYR_POOL": "prefork"},
    "flower": {"VALKYR_PROCESS": "flower", "VALKYR_LOG_LEVEL": "ERROR"},
}


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """Return the environment of an image whose servers were not started."""
    return clean_environment() | {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "PYTHONUNBUFFERED": "1",
        "VALKYR_SECRET_KEY": "check-" + "0123456789abcdef" * 4,
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }


@pytest.fixture(scope="module")
def image(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProcessImage]:
    made = ProcessImage(PROJECT, tmp_path_factory.mktemp("image") / "image.log")
    made.launch(environment)
    yield made
    made.close()


def told(process: ForkedProcess, image: ProcessImage) -> dict[str, Any]:
    """Return a process's report, after it has ended successfully."""
    with process.stdout as output:
        text = output.read().decode()
    assert process.wait() == 0, text + image.last_lines()
    report: dict[str, Any] = json.loads(text.splitlines()[-1])
    return report


def waiting(image: ProcessImage) -> ForkedProcess:
    """Start a process that runs until it is ended."""
    return image.start(
        (sys.executable, "-m", "tests.support.image_waiter"), {"VALKYR_PROCESS": "worker-io"}
    )


@pytest.mark.parametrize("role", ROLES)
def test_a_forked_process_has_the_settings_of_a_started_one(
    image: ProcessImage, environment: dict[str, str], role: str
) -> None:
    forked = told(image.start((*REPORT, "a word"), ROLES[role]), image)

    done = subprocess.run(
        (*REPORT, "a word"),
        cwd=PROJECT,
        env=environment | ROLES[role],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    started = json.loads(done.stdout.splitlines()[-1])
    assert forked["settings"] == started["settings"]
    assert forked["celery"] == started["celery"]
    assert forked["environment"] == started["environment"]
    assert forked["arguments"] == started["arguments"] == ["a word"]


def test_processes_find_the_code_loaded_and_are_strangers_otherwise(image: ProcessImage) -> None:
    one, other = (told(image.start(REPORT, ROLES["web"]), image) for _ in range(2))

    assert one["loaded"] == other["loaded"] == list(image_report.OF_ROLES)
    assert one["parent"] == other["parent"] == image.pid
    assert one["session"] != other["session"]
    assert not set(one["chance"]) & set(other["chance"])


def test_the_launcher_has_nothing_that_processes_must_not_share(image: ProcessImage) -> None:
    told(image.start(REPORT, ROLES["web"]), image)  # it has loaded all
    launcher = psutil.Process(image.pid)

    assert launcher.num_threads() == 1
    assert launcher.net_connections() == []
    shared = [area for area in launcher.memory_maps(grouped=False) if area.perms[1::2] == "ws"]
    assert shared == []


def test_a_killed_process_is_told_of_and_another_is_forked_from_the_same_image(
    image: ProcessImage,
) -> None:
    killed = waiting(image)
    assert killed.stdout.readline() == b"waits\n"
    command_line = psutil.Process(killed.pid).cmdline()

    os.kill(killed.pid, signal.SIGKILL)

    assert killed.wait() == -signal.SIGKILL
    killed.stdout.close()
    assert " ".join(command_line).rstrip().endswith("-m tests.support.image_waiter")
    again = told(image.start(REPORT, ROLES["worker"]), image)
    assert again["parent"] == image.pid
    assert again["loaded"] == list(image_report.OF_ROLES)


def test_a_signal_reaches_the_process_as_if_it_had_been_started(image: ProcessImage) -> None:
    ended = waiting(image)
    assert ended.stdout.readline() == b"waits\n"

    ended.send_signal(signal.SIGTERM)

    assert ended.wait() == -signal.SIGTERM
    ended.stdout.close()


def test_processes_end_with_their_launcher_and_a_new_one_can_follow(
    environment: dict[str, str], tmp_path: Path
) -> None:
    image = ProcessImage(PROJECT, tmp_path / "image.log")
    image.launch(environment)
    held = waiting(image)
    assert held.stdout.readline() == b"waits\n"

    os.kill(image.pid, signal.SIGKILL)

    assert held.wait() == -signal.SIGKILL
    wait_until_gone([held.pid, image.pid])
    assert not image.alive()
    held.stdout.close()
    nobody = image.start(REPORT, {})
    assert nobody.wait() == -signal.SIGKILL
    nobody.stdout.close()
    image.launch(environment)
    assert told(image.start(REPORT, ROLES["web"]), image)["parent"] == image.pid
    image.close()


def test_an_image_that_cannot_be_loaded_says_why(
    environment: dict[str, str], tmp_path: Path
) -> None:
    image = ProcessImage(PROJECT, tmp_path / "image.log")
    image.launch(environment | {"VALKYR_LOG_LEVEL": "LOUD"})

    refused = image.start(REPORT, {})

    assert refused.wait() == -signal.SIGKILL
    wait_until_gone([image.pid])
    assert "VALKYR_LOG_LEVEL is 'LOUD'" in image.last_lines()
    refused.stdout.close()
    image.close()


def test_the_supervisor_loads_nothing_that_only_the_image_needs() -> None:
    names = "{'celery', 'executions.configuration', 'psycopg', 'pydantic', 'redis'}"
    script = f"import sys, valkyr_project.up.run; print(*{names} & set(sys.modules))"

    done = subprocess.run(
        (sys.executable, "-c", script), cwd=PROJECT, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == []
