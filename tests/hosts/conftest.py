"""Two projects for all tests of the folder; the executions that beat starts are checked last."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hosts import minimal, workflows
from tests.hosts.client import Client
from tests.hosts.project import PASSWORD, HostProject, database_of_its_own, started
from tests.support import rabbitmq
from tests.support.folders import passable_folder
from tests.support.rabbitmq import RabbitMQ
from tests.support.wheel import environment_with, lowest, newest_python

BUREAU = Path(__file__).with_name("bureau")
QUEUES = "valkyr.default,valkyr.io,valkyr.control"


@dataclass
class Host:
    """A running project, a signed-in user, and a workflow that beat starts."""

    project: HostProject
    client: Client
    clock: str


def _signed_in(project: HostProject, prefix: str, name: str) -> Host:
    client = Client(f"{project.url}/{prefix}", name, PASSWORD)
    return Host(project, client, client.publish(workflows.CLOCK))


def redis(number: int) -> str:
    """Return the URL of a database of the tests' Redis."""
    return f"{os.environ['REDIS_URL'].rpartition('/')[0]}/{number}"


@pytest.fixture(scope="package", name="minimal_host")
def _minimal_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Follow the pages' steps, on Python 3.11 with the oldest allowed releases."""
    folder = tmp_path_factory.mktemp("minimal")
    environment = environment_with(folder, *lowest(), "django-tasks")
    made = started(folder, environment, "shop")
    minimal.EDITS.write(made)
    (made / "files").mkdir()
    with database_of_its_own("host_minimal") as database:
        host = HostProject(made, environment, BROKER=redis(11), **database)
        try:
            host.prepare(username="ann", email="ann@example.org")
            host.start("worker", "-m", "celery", "-A", "shop", "worker", "--concurrency", "2")
            host.start("beat", "-m", "celery", "-A", "shop", "beat")
            host.serve("admin/login/")
            yield _signed_in(host, minimal.PREFIX, "ann")
        finally:
            host.stop()


@pytest.fixture(scope="package", name="bureau_host")
def _bureau_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Run a project with its own conventions, on the newest releases; see its settings."""
    folder = tmp_path_factory.mktemp("bureau")
    environment = environment_with(folder, "psycopg[pool]", python=newest_python())
    made = folder / "bureau"
    shutil.copytree(BUREAU, made, ignore=shutil.ignore_patterns("__pycache__"))
    (made / "files").mkdir()
    with ExitStack() as stack:
        database = stack.enter_context(database_of_its_own("host_bureau"))
        stack.enter_context(database_of_its_own("host_flows"))
        broker, is_ready = _broker(stack)
        host = HostProject(
            made, environment, BROKER=broker, RESULTS=redis(12), C_FORCE_ROOT="1", **database
        )
        stack.callback(host.stop)
        host.prepare("flows", mail="ann@example.org")
        is_ready()
        celery = ("-m", "celery", "-A", "bureau.queueing")
        host.start("beat", *celery, "beat")
        host.start(
            "flows", *celery, "worker", "--queues", QUEUES, "--concurrency", "2", "-n", "flows@%h"
        )
        host.start(
            "own", *celery, "worker", "--queues", "bureau,letters", "--pool", "threads",
            "--concurrency", "1", "-n", "own@%h",
        )  # fmt: skip
        host.serve("portal/de/backoffice/login/")
        yield _signed_in(host, "portal/internal/flows/", "ann@example.org")


def _broker(stack: ExitStack) -> tuple[str, Callable[[], None]]:
    """Start a RabbitMQ, or use the tests' Redis if there is none; return its URL and a function
    that waits for it.

    CI has RabbitMQ.
    """
    if rabbitmq.missing() and not os.environ.get("CI"):
        return redis(13), lambda: None
    node = RabbitMQ(stack.enter_context(passable_folder()))
    stack.callback(node.stop)
    node.launch()
    return node.url, node.wait
