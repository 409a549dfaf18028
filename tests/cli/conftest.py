"""One installation for the folder: a web process, workers, an administrator and her token."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model

from dlq.models import DeadLetterEntry
from executions.access.actor import Actor
from executions.accounts.tokens import create_token
from executions.models import Membership, Workflow
from tests.support import nursery
from tests.support.engine_database import engine_database
from tests.support.fleet import Fleet, publishing_to
from tests.support.folders import passable_folder
from tests.support.stack import PROJECT
from tests.support.waiting import wait_until
from tests.support.web_server import web_server
from tests.support.workflows import default_workspace, publish, start, task, wait_for_end
from valkyr.cli import main
from valkyr_project.embedded import Redis

SHARED = (
    "REDIS_URL", "VALKYR_KEY_PREFIX", "VALKYR_EXTRA_MODULES", "CELERY_BROKER_URL", "VALKYR_PLUGINS",
)  # fmt: skip
PASSWORD = "correct horse battery staple"


@dataclass
class Installation:
    """The server's address, and a token of `ann`, who administers the default workspace."""

    url: str
    token: str
    environment: dict[str, str] = field(repr=False)


@dataclass
class Said:
    """A command's result."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="package")
def installation(
    django_db_setup: None,
    django_db_blocker: Any,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("cli")
    keep = request.config.getvalue("reuse_db")
    with engine_database(django_db_blocker, keep=keep), passable_folder() as home:
        redis = Redis(home, durable=False)
        redis.start()
        fleet = Fleet(folder, redis.url)
        try:
            with publishing_to(redis.url):
                fleet.worker("control", "control", "threads", 4)
                fleet.worker("default-1", "default", "threads", 4)
                fleet.beat()
                extra = {name: fleet.environment[name] for name in SHARED}
                extra["VALKYR_PYTHON_CODE"] = "1"  # an example's step
                # The example's package, as if it were installed in the web process.
                extra["PYTHONPATH"] = str(PROJECT / "examples" / "own-steps" / "src")
                steps = [f"own_steps.{name}" for name in ("discount", "size", "stock")]
                extra["VALKYR_EXTRA_MODULES"] = ",".join([extra["VALKYR_EXTRA_MODULES"], *steps])
                with web_server(folder / "web.log", extra) as web:
                    fleet.ensure()
                    yield Installation(web.address, ann_with_a_token(), fleet.environment)
        finally:
            fleet.stop()
            redis.stop()


def ann_with_a_token() -> str:
    workspace = default_workspace()
    ann: Any = get_user_model().objects.create_user("ann", password=PASSWORD)
    Membership.objects.create(user=ann, workspace=workspace, role="ADMIN")
    get_user_model().objects.create_superuser("root", password=PASSWORD)
    made = create_token(workspace, ann, name="cli", maker=ann, actor=Actor.of(ann))
    return made[1]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Provide an environment that names no installation, and the test's own profile file."""
    for name in ("URL", "TOKEN", "PROFILE", "AS"):
        monkeypatch.delenv(f"VALKYR_{name}", raising=False)
    monkeypatch.setenv("VALKYR_CONFIG", str(tmp_path / "config.toml"))
    return monkeypatch


class Valkyr:
    """Runs commands in this process, as users type them."""

    def __init__(self, capfd: pytest.CaptureFixture[str], environment: pytest.MonkeyPatch) -> None:
        self._capfd, self.environment = capfd, environment

    def __call__(self, *words: object) -> Said:
        code = main([str(word) for word in words])
        said = self._capfd.readouterr()
        return Said(code, said.out, said.err)


@pytest.fixture
def offline(capfd: pytest.CaptureFixture[str], environment: pytest.MonkeyPatch) -> Valkyr:
    """Return the command, with prompts off."""
    return Valkyr(capfd, environment)


@pytest.fixture
def valkyr(offline: Valkyr, installation: Installation) -> Valkyr:
    """Return the command, with the installation in its environment."""
    offline.environment.setenv("VALKYR_URL", installation.url)
    offline.environment.setenv("VALKYR_TOKEN", installation.token)
    return offline


@pytest.fixture
def local(installation: Installation, environment: pytest.MonkeyPatch) -> Any:
    """Return a function that runs `valkyr --local` in the project's folder, in a separate process,
    with the real settings.
    """

    def run(*words: object, **more: str) -> Said:
        given = {**os.environ, **installation.environment, **more}
        given.pop("DJANGO_SETTINGS_MODULE")  # manage.py names it
        command = [sys.executable, "-m", "valkyr", *map(str, words), "--local"]
        done = nursery.run(command, environment=given)
        return Said(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="package")
def echo(installation: Installation) -> Workflow:
    """Publish a workflow that returns its payload's `value`."""
    given = {"with": {"value": "{{ input.value }}"}}
    return publish({
        "name": "echo it",
        "input": {"type": "object", "required": ["value"]},
        "tasks": [task("say", "test.effect", **given)],
        "output": "{{ tasks.say.output }}",
    })  # fmt: skip


@pytest.fixture(scope="package")
def failing(installation: Installation) -> Workflow:
    """Publish a workflow whose step fails permanently the first time, and succeeds the second."""
    given = {"with": {"failTimes": 1, "errorType": "PERMANENT", "named": "Out of paper"}}
    return publish({"name": "fails once", "tasks": [task("print", "test.effect", **given)]})


@pytest.fixture(scope="package")
def asking(installation: Installation) -> Workflow:
    """Publish a workflow that waits for an approval that is never given."""
    given = {"with": {"title": "Pay?"}}
    return publish({"name": "asks first", "tasks": [task("ask", "flow.approval", **given)]})


@pytest.fixture
def letter(failing: Workflow) -> DeadLetterEntry:
    """Return an open dead letter."""
    return letter_of(start(failing))


def letter_of(execution: UUID) -> DeadLetterEntry:
    """Wait for the failure of an execution; return its dead letter."""
    assert set(wait_for_end([execution]).values()) == {"FAILED"}
    found = DeadLetterEntry.objects.filter(execution_id=execution)
    wait_until(found.exists, 20, "the dead letter")
    return found.get()
