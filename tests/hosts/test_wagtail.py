"""Wagtail's own project, created by `wagtail start`, on the newest Python.

It has no Celery. Its pages answer at every path that no other route takes. The project's own tests
run, too.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.hosts import scenarios
from tests.hosts.client import Client
from tests.hosts.project import PASSWORD, Edits, HostProject, database_of_its_own
from tests.support.wheel import Environment, environment_with, newest_python

pytestmark = [pytest.mark.network, pytest.mark.timeout(900)]
PREFIX = "workflows/"
DATABASE = Edits(
    replaced={
        "gallery/settings/base.py": (
            '"ENGINE": "django.db.backends.sqlite3",\n        "NAME": BASE_DIR / "db.sqlite3",',
            '"ENGINE": "django.db.backends.postgresql",\n        "NAME": "host_wagtail",',
        ),
    },
    # Wagtail's search needs it on PostgreSQL.
    appended={"gallery/settings/base.py": '\nINSTALLED_APPS += ["django.contrib.postgres"]\n'},
)
EDITS = Edits(
    replaced={
        "gallery/urls.py": (
            "urlpatterns = [\n",
            f'urlpatterns = [\n    path("{PREFIX}", include("valkyr.urls")),\n',
        ),
    },
    appended={
        "gallery/settings/base.py": """
import os

import valkyr

INSTALLED_APPS += ["rest_framework", "django_celery_beat", *valkyr.APPS, *valkyr.PLUGINS]
CELERY_BROKER_URL = os.environ["BROKER"]
VALKYR = {"FILES_ROOT": str(BASE_DIR / "files")}
""",
        "gallery/celery.py": """
import os

from celery import Celery

import valkyr

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gallery.settings.dev")
app = Celery("gallery")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
valkyr.configure_celery(app)
""",
        "gallery/__init__.py": """
from .celery import app as celery_app
""",
    },
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment_with(tmp_path_factory.mktemp("wagtail"), "wagtail", python=newest_python())


@pytest.fixture(scope="module")
def project(environment: Environment) -> Iterator[HostProject]:
    folder = environment.folder.parent / "project"
    folder.mkdir()
    done = environment.run("-m", "wagtail.bin.wagtail", "start", "gallery", ".", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    DATABASE.write(folder)
    (folder / "files").mkdir()
    broker = os.environ["REDIS_URL"].rpartition("/")[0] + "/13"
    EDITS.write(folder)
    with ExitStack() as stack:
        database = stack.enter_context(database_of_its_own("host_wagtail"))
        host = HostProject(folder, environment, BROKER=broker, **database)
        host.prepare(username="ann", email="ann@example.org")
        # Its tests use this one, migrated, before anything is connected to its original.
        stack.enter_context(database_of_its_own("test_host_wagtail", like="host_wagtail"))
        stack.callback(host.stop)
        host.start("worker", "-m", "celery", "-A", "gallery", "worker", "--concurrency", "2")
        host.start("beat", "-m", "celery", "-A", "gallery", "beat")
        host.serve("admin/login/")
        yield host


@pytest.fixture(scope="module")
def client(project: HostProject) -> Client:
    return Client(f"{project.url}/{PREFIX}", "ann", PASSWORD)


@pytest.mark.parametrize("scenario", scenarios.ALL)
def test_workflows_run(scenario: str, project: HostProject, client: Client) -> None:
    getattr(scenarios, scenario)(project, client)


def test_its_pages_and_its_404_are_its_own(project: HostProject) -> None:
    home = httpx.get(f"{project.url}/", timeout=120)
    nothing = httpx.get(f"{project.url}/nowhere/", timeout=120)

    assert home.status_code == 200
    assert "Wagtail" in home.text
    assert nothing.status_code == 404
    assert nothing.headers["Content-Type"].startswith("text/html")


def test_our_pages_are_in_its_django_admin(project: HostProject) -> None:
    with httpx.Client(base_url=project.url, follow_redirects=True, timeout=120) as person:
        person.get("/django-admin/login/")
        person.post(
            "/django-admin/login/",
            data={
                "username": "ann",
                "password": PASSWORD,
                "csrfmiddlewaretoken": person.cookies["csrftoken"],
            },
        )
        for model in ("executions/workflow", "executions/workflowexecution", "dlq/failuregroup"):
            assert person.get(f"/django-admin/{model}/").status_code == 200, model
        assert person.get("/django-admin/auth/user/").status_code == 200


def test_its_own_tests_are_green(project: HostProject) -> None:
    project.manage("test", "--noinput", "--keepdb")
