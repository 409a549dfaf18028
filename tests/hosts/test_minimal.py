"""A project as `django-admin startproject` makes it, with the lines that the docs tell to add."""

import os
from collections.abc import Iterator

import pytest

from tests.hosts import scenarios, workflows
from tests.hosts.client import Client
from tests.hosts.project import (
    PASSWORD,
    Edits,
    HostProject,
    database_of_its_own,
    started,
)
from tests.support.wheel import environment_with, lowest, newest_python

pytestmark = [pytest.mark.network, pytest.mark.timeout(600)]
PREFIX = "flows/"
SQLITE = """\
        'ENGINE': 'django.db.backends.sqlite3',
        'NAME': BASE_DIR / 'db.sqlite3',
"""
POSTGRESQL = """\
        'ENGINE': 'django.db.backends.postgresql',
        'NAME': 'host_minimal',
"""
EDITS = Edits(
    replaced={
        "shop/settings.py": (SQLITE, POSTGRESQL),
        "shop/urls.py": (
            "from django.urls import path",
            "from django.urls import include, path",
        ),
    },
    appended={
        "shop/settings.py": """
import os

import valkyr

INSTALLED_APPS += ["rest_framework", "django_celery_beat", *valkyr.APPS, *valkyr.PLUGINS]
CELERY_BROKER_URL = os.environ["BROKER"]
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
VALKYR = {"FILES_ROOT": str(BASE_DIR / "files")}
""",
        "shop/urls.py": f"""
urlpatterns += [path("{PREFIX}", include("valkyr.urls"))]
""",
        "shop/celery.py": """
import os

from celery import Celery

import valkyr

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
app = Celery("shop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
valkyr.configure_celery(app)


@app.task
def own():
    return 1
""",
        "shop/__init__.py": """
from .celery import app as celery_app
""",
    },
)


@pytest.fixture(scope="module", params=["oldest", "newest"])
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HostProject]:
    """On Python 3.11 with the oldest releases that are allowed, then with the newest of all."""
    folder = tmp_path_factory.mktemp("minimal")
    if request.param == "oldest":
        environment = environment_with(folder, *lowest())
    else:
        environment = environment_with(folder, python=newest_python())
    made = started(folder, environment, "shop")
    EDITS.write(made)
    (made / "files").mkdir()
    broker = os.environ["REDIS_URL"].rpartition("/")[0] + "/11"
    with database_of_its_own("host_minimal") as database:
        host = HostProject(made, environment, BROKER=broker, **database)
        try:
            host.manage("migrate", "--verbosity", "0")
            host.manage(
                "createsuperuser", "--noinput", "--username", "ann", "--email", "ann@example.org",
                DJANGO_SUPERUSER_PASSWORD=PASSWORD,
            )  # fmt: skip
            host.start_all("shop", "--concurrency", "2")
            yield host
        finally:
            host.stop()


@pytest.fixture(scope="module")
def client(project: HostProject) -> Client:
    return Client(f"{project.url}/{PREFIX}", "ann", PASSWORD)


def test_its_checks_find_no_error(project: HostProject) -> None:
    project.manage("check", "--fail-level", "ERROR")


@pytest.mark.parametrize("scenario", scenarios.ALL)
def test_workflows_run(scenario: str, project: HostProject, client: Client) -> None:
    getattr(scenarios, scenario)(project, client)


def test_a_module_whose_extra_is_missing_is_refused_with_what_to_install(client: Client) -> None:
    made = client.post("v1/Workflow/import", workflows.REQUEST)

    said = client.refused(f"v1/Workflow/{made['id']}/publish", {})

    assert "pip install 'valkyr[http]'" in said


def test_its_own_tasks_keep_celerys_defaults(project: HostProject) -> None:
    said = project.manage(
        "shell", "--verbosity", "0", "--command",
        "from shop.celery import app, own; "
        "print(own.acks_late, own.ignore_result, own.time_limit, app.conf.task_acks_late)",
    )  # fmt: skip

    assert said.split() == ["False", "False", "None", "False"]
