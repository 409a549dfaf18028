"""A web process as `make up` starts it, on the tests' own database and Redis."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.fleet import database_url
from tests.support.nursery import Forked, from_project
from tests.support.stack import clean_environment
from tests.support.waiting import wait_until
from valkyr_project.embedded.child import free_port

# Variables that tests set for themselves, which the process must share.
SHARED = (
    "DJANGO_SETTINGS_MODULE", "REDIS_URL", "VALKYR_KEY", "VALKYR_KEY_PREFIX", "VALKYR_SECRET_KEY",
    "VALKYR_REMOTE_QUEUES", "VALKYR_STATIC_ROOT",
)  # fmt: skip


@contextmanager
def web_process(
    log: Path,
    application: str = "valkyr_project.asgi:application",
    prefix: str = "",
    script_name: str = "",
    **more: str,
) -> Iterator[str]:
    """Serve the committed test database; yield the address.

    `prefix` is the path of `valkyr.urls`, `script_name` the path that a proxy removes; `more` are
    environment variables.
    """
    address = f"http://127.0.0.1:{(port := free_port())}"
    environment = {name: os.environ[name] for name in SHARED if name in os.environ}
    environment = clean_environment() | environment | {
        "DATABASE_URL": database_url(),
        "VALKYR_PUBLIC_URL": address,
        **more,
    }  # fmt: skip
    command = [
        *(sys.executable, "-m", "uvicorn", application),
        *("--host", "127.0.0.1", "--port", str(port), "--lifespan", "off"),
        *("--log-level", "warning", "--no-proxy-headers", "--root-path", script_name),
    ]
    with log.open("wb") as out:
        process = from_project(command, environment=environment, output=out.fileno())
    try:
        wait_until(
            lambda: _answers(f"{address}{prefix}", process, log),
            60,
            "the web process's first answer",
        )
        yield address
    finally:
        process.terminate()
        process.wait(20)


def _answers(address: str, process: Forked, log: Path) -> bool:
    assert process.poll() is None, f"the web process ended:\n{log.read_text()[-3000:]}"
    try:
        return httpx.get(f"{address}/actuator/health/live", timeout=120).is_success
    except httpx.TransportError:
        return False
