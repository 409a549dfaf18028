"""A worker's start: Celery's command, without the other modules that `python -m celery` loads."""

import os
import subprocess
import sys

from valkyr_project.messaging.celery_command import commands

STARTED = """
import gc, sys
from valkyr_project.messaging import celery_command
try:
    celery_command.main()
except SystemExit as end:
    print("ended", end.code, "collecting" if gc.isenabled() else "not collecting")
print("frozen" if gc.get_freeze_count() > 100_000 else "not frozen")
print("loaded", *sorted(sys.modules))
"""


def test_a_worker_loads_its_steps_and_neither_a_shell_nor_flower() -> None:
    lines = started("worker", "--help").splitlines()
    (loaded,) = (set(line.split()) for line in lines if line.startswith("loaded "))

    assert "ended 0 collecting" in lines
    assert "frozen" in lines
    assert {"runners.tasks", "dlq.tasks", "celery.bin.worker"} <= loaded
    assert not {"prompt_toolkit", "tornado", "flower"} & loaded


def test_only_the_processes_of_an_installation_are_started() -> None:
    assert [*commands(["worker"]), *commands(["beat"]), *commands(["flower"])] == [
        "worker", "beat", "flower",
    ]  # fmt: skip
    assert commands(["shell"]) == commands([]) == {}


def started(*arguments: str) -> str:
    given = {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "VALKYR_INSECURE_KEY": "1",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "VALKYR_PROCESS": "worker-io",
    }
    command = [sys.executable, "-c", STARTED, *arguments]
    done = subprocess.run(
        command, env=os.environ | given, capture_output=True, text=True, check=True, timeout=100
    )
    return done.stdout
