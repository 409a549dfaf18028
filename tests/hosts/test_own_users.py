"""A project with users of its own: UUIDs as keys, e-mail addresses as names.

Its tables lie in one database and ours in another; its Celery app has tasks, routes and results of
its own and runs threads; everything is below a prefix, and the admin at an address of its own.
"""

import os
from collections.abc import Iterator

import pytest

from tests.hosts import scenarios
from tests.hosts.client import Client
from tests.hosts.project import (
    PASSWORD,
    Edits,
    HostProject,
    database_of_its_own,
    started,
)
from tests.support.wheel import environment_with

pytestmark = [pytest.mark.network, pytest.mark.timeout(600)]
PREFIX = "office/automation/"
ADMIN = "office/desk/"
NAME = "ann@example.org"
QUEUES = "desk,letters,valkyr.default,valkyr.io,valkyr.control"
SQLITE = """\
        'ENGINE': 'django.db.backends.sqlite3',
        'NAME': BASE_DIR / 'db.sqlite3',
"""
EDITS = Edits(
    replaced={
        "desk/settings.py": (
            SQLITE,
            "        'ENGINE': 'django.db.backends.postgresql',\n        'NAME': 'host_users',\n",
        ),
        "desk/urls.py": ("path('admin/', admin.site.urls)", f"path('{ADMIN}', admin.site.urls)"),
    },
    appended={
        "desk/settings.py": """
import os

import valkyr

INSTALLED_APPS += [
    "people", "rest_framework", "django_celery_beat", *valkyr.APPS, *valkyr.PLUGINS,
]
AUTH_USER_MODEL = "people.Person"
DATABASES["flows"] = DATABASES["default"] | {"NAME": "host_users_flows"}
DATABASE_ROUTERS = ["executions.database.Router"]
REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.BrowsableAPIRenderer"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 1,
}
CELERY_BROKER_URL = os.environ["BROKER"]
CELERY_RESULT_BACKEND = os.environ["BROKER"]
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_TASK_SERIALIZER = "pickle"
CELERY_ACCEPT_CONTENT = ["pickle", "json"]
CELERY_TASK_DEFAULT_QUEUE = "desk"
CELERY_TASK_ROUTES = {"people.tasks.*": {"queue": "letters"}}
CELERY_TASK_TIME_LIMIT = 30
VALKYR = {"FILES_ROOT": str(BASE_DIR / "files"), "DATABASE": "flows"}
""",
        "desk/urls.py": f"""
from django.urls import include

urlpatterns += [path("{PREFIX}", include("valkyr.urls"))]
""",
        "desk/celery.py": """
import os

from celery import Celery

import valkyr

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "desk.settings")
app = Celery("desk")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
valkyr.configure_celery(app)
""",
        "desk/__init__.py": """
from .celery import app as celery_app
""",
        "people/__init__.py": "",
        "people/migrations/__init__.py": "",
        "people/models.py": """
import uuid

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models


class People(BaseUserManager):
    def create_user(self, email, password=None, **more):
        person = self.model(email=self.normalize_email(email), **more)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, email, password=None, **more):
        return self.create_user(email, password, is_staff=True, is_superuser=True, **more)


class Person(AbstractBaseUser, PermissionsMixin):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(unique=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    objects = People()
    USERNAME_FIELD = "email"
""",
        "people/tasks.py": """
from celery import shared_task


@shared_task(bind=True)
def letter(self, words):
    return [words, self.request.delivery_info["routing_key"]]
""",
    },
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProject]:
    folder = tmp_path_factory.mktemp("users")
    environment = environment_with(folder)
    made = started(folder, environment, "desk")
    (made / "people" / "migrations").mkdir(parents=True)
    (made / "files").mkdir()
    EDITS.write(made)
    broker = os.environ["REDIS_URL"].rpartition("/")[0] + "/12"
    with database_of_its_own("host_users") as database, database_of_its_own("host_users_flows"):
        host = HostProject(made, environment, BROKER=broker, C_FORCE_ROOT="1", **database)
        try:
            host.manage("makemigrations", "people", "--verbosity", "0")
            host.manage("migrate", "--verbosity", "0")
            host.manage("migrate", "--verbosity", "0", "--database", "flows")
            host.manage(
                "createsuperuser", "--noinput", "--email", NAME, DJANGO_SUPERUSER_PASSWORD=PASSWORD
            )
            host.start_all(
                "desk",
                *("--pool", "threads", "--concurrency", "3", "--queues", QUEUES),
                sign_in=f"{ADMIN}login/",
            )
            yield host
        finally:
            host.stop()


@pytest.fixture(scope="module")
def client(project: HostProject) -> Client:
    return Client(f"{project.url}/{PREFIX}", NAME, PASSWORD)


@pytest.mark.parametrize("scenario", scenarios.ALL)
def test_workflows_run(scenario: str, project: HostProject, client: Client) -> None:
    getattr(scenarios, scenario)(project, client)


def test_nobody_is_let_in_by_the_projects_own_permissions(project: HostProject) -> None:
    import httpx

    answer = httpx.get(f"{project.url}/{PREFIX}v1/ModuleType")

    assert answer.status_code == 401
    assert answer.headers["Content-Type"].startswith("application/problem+json")


def test_its_own_tasks_go_where_it_sends_them(project: HostProject) -> None:
    said = project.manage(
        "shell", "--verbosity", "0", "--command",
        "from people.tasks import letter; print(letter.delay('hello').get(timeout=30), "
        "letter.serializer, letter.acks_late, letter.time_limit)",
    )  # fmt: skip

    assert "'hello'" in said
    assert "'letters'" in said
    assert said.split()[-3:] == ["pickle", "False", "30"]


def test_its_database_has_none_of_our_tables(project: HostProject) -> None:
    told = [
        project.manage(
            "shell", "--verbosity", "0", "--command",
            f"from django.db import connections as c; "
            f"print('executions_workflow' in c['{alias}'].introspection.table_names())",
        ).strip()
        for alias in ("default", "flows")
    ]  # fmt: skip

    assert told == ["False", "True"]
