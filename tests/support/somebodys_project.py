"""Another Django project, with its own Celery app, in which Valkyr is installed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings as tests_settings

from tests.support import nursery
from tests.support.migrated import copied

PROJECT = Path(__file__).parents[2]
SETTINGS = """
import os

SECRET_KEY = "somebodys-" + "s" * 60
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = {apps!r}
MIDDLEWARE = []
ROOT_URLCONF = "shop.urls"
TEMPLATES = []
DATABASES = {{"default": {database!r}}}
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CELERY_BROKER_URL = {broker!r}
CELERY_TASK_DEFAULT_QUEUE = "shop"
CELERY_TASK_SERIALIZER = "pickle"
CELERY_ACCEPT_CONTENT = ["pickle", "json"]
CELERY_TASK_TIME_LIMIT = 30
CELERY_TASK_SOFT_TIME_LIMIT = 20
CELERY_TASK_DEFAULT_RATE_LIMIT = "1000/s"
CELERY_TASK_ROUTES = {{"shop.tasks.*": {{"queue": "shop"}}}}
CELERY_BEAT_SCHEDULE = {{
    "shop: count": {{"task": "shop.tasks.count", "schedule": 1.0, "options": {{"queue": "shop"}}}},
}}
{more}
"""
CELERY = """
import os

from celery import Celery

import valkyr

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
app = Celery("shop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
valkyr.configure_celery(app)
"""
TASKS = """
from pathlib import Path

from celery import shared_task


@shared_task(max_retries=7)
def count():
    with Path("counted").open("a") as file:
        file.write("x")


@shared_task
def told(path, value):
    Path(path).write_text(repr(value))
"""
APPS = [
    "unfold", "unfold.contrib.filters", "django.contrib.admin", "django.contrib.auth",
    "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages",
    "django.contrib.staticfiles", "django_celery_beat", "rest_framework",
    "executions", "runners", "dlq", "valkyr_plugins.connectors", "shop",
]  # fmt: skip


class SomebodysProject:
    """The project's folder, its programs, and their output; `stop` ends the programs."""

    def __init__(self, folder: Path, database: str, broker: str, more: str = "") -> None:
        self.folder, self.broker = folder, broker
        self._started: list[nursery.Forked] = []
        package = folder / "shop"
        package.mkdir()
        given = tests_settings.DATABASES["default"]
        kept = {key: given[key] for key in ("ENGINE", "USER", "PASSWORD", "HOST", "PORT")}
        settings = SETTINGS.format(
            apps=APPS, database=kept | {"NAME": database}, broker=broker, more=more
        )
        for name, text in {
            "__init__.py": "from .celery import app as celery_app\n",
            "settings.py": settings,
            "celery.py": CELERY,
            "tasks.py": TASKS,
            "urls.py": "urlpatterns = []\n",
        }.items():
            (package / name).write_text(text)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the project's programs, without the tests' own variables."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {
            "DJANGO_SETTINGS_MODULE": "shop.settings",
            "C_FORCE_ROOT": "1",  # its own tasks are pickled
            "PYTHONPATH": f"{self.folder}{os.pathsep}{PROJECT}",
        }

    def run(self, program: str, **environment: str) -> Any:
        """Run a program; return the last line of its output, parsed from JSON."""
        begin = "import django, json; django.setup()\n"
        done = self._run([sys.executable, "-c", begin + program], environment)
        return json.loads(done.stdout.splitlines()[-1])

    def manage(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a management command; return its result for any exit code."""
        return self._run([sys.executable, "-m", "django", *command], environment, check=False)

    def celery(self, *command: str) -> nursery.Forked:
        """Start one of Celery's programs with the project's app."""
        with (self.folder / "celery.log").open("ab") as log:
            started = nursery.from_libraries(
                [sys.executable, "-m", "celery", "-A", "shop", *command],
                output=log.fileno(),
                environment=self.environment,
                folder=self.folder,
            )
        self._started.append(started)
        return started

    @property
    def log(self) -> str:
        """The last output of Celery's programs."""
        return self.whole_log[-6000:]

    @property
    def whole_log(self) -> str:
        """The whole output of Celery's programs."""
        file = self.folder / "celery.log"
        return file.read_text() if file.exists() else ""

    def stop(self) -> None:
        """End the programs that were started."""
        for process in self._started:
            process.send_signal(signal.SIGTERM)
        for process in self._started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._started.clear()

    def _run(
        self, command: list[str], environment: Mapping[str, str], *, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        named = self.environment | environment
        done = nursery.run(command, environment=named, folder=self.folder, seconds=100)
        assert done.returncode == 0 or not check, (
            done.stdout[-2000:] + done.stderr[-4000:] + self.log
        )
        return done


@contextmanager
def somebodys_project(
    folder: Path, name: str, broker: str, more: str = ""
) -> Iterator[SomebodysProject]:
    """Create a project on its own migrated database; stop and delete it at the end."""
    with copied(name):
        made = SomebodysProject(folder, name, broker, more)
        try:
            yield made
        finally:
            made.stop()
            shutil.rmtree(folder / "shop")
