"""The wheel without an extra, in a clean environment: imported, and checked by Django.

The project has one package of an extra for its own use.
"""

from pathlib import Path

import pytest

from tests.support.wheel import Environment, environment_with

pytestmark = [pytest.mark.network]
SETTINGS = """
from celery import Celery

import valkyr

valkyr.configure_celery(Celery("project", broker="redis://127.0.0.1:1/0"))

SECRET_KEY = "s" * 60
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "nobody"}}
INSTALLED_APPS = [
    "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
    "django.contrib.sessions", "django.contrib.messages", "django.contrib.staticfiles",
    "rest_framework", "django_celery_beat", *valkyr.APPS, *valkyr.PLUGINS,
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
    ]},
}]
STATIC_URL = "static/"
ROOT_URLCONF = "project"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
"""
URLS = """
from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls), path("flows/", include("valkyr.urls"))]
"""
# The names that a project may import: those of `valkyr`, the public modules of the apps, the
# plugins.
IMPORTS = """
import pkgutil
from importlib import import_module
import django

django.setup()
import valkyr, valkyr_plugins
import executions.public, runners.public, dlq.public

print(valkyr.__version__)
for package in (executions.public, runners.public, dlq.public):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)
for name in valkyr.PLUGINS:
    import_module(name)
    import_module(f"{name}.apps")
"""
LISTED = """
import django

django.setup()
from runners.modules import registry

for spec in registry.specs().values():
    if spec.category == "not installed":
        print(spec.type, spec.description)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment_with(tmp_path_factory.mktemp("clean"), "httpx")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "settings.py").write_text(SETTINGS)
    (tmp_path / "project.py").write_text(URLS)
    return tmp_path


def test_public_names_can_be_imported(environment: Environment, project: Path) -> None:
    done = environment.run("-c", IMPORTS, cwd=project, DJANGO_SETTINGS_MODULE="settings")

    assert done.returncode == 0, done.stderr[-5000:]


def test_checks_of_django_find_no_error(environment: Environment, project: Path) -> None:
    done = environment.run("-m", "django", "check", cwd=project, DJANGO_SETTINGS_MODULE="settings")

    assert done.returncode == 0, done.stderr[-5000:]


def test_a_module_whose_extra_is_missing_says_what_to_install(
    environment: Environment, project: Path
) -> None:
    done = environment.run("-c", LISTED, cwd=project, DJANGO_SETTINGS_MODULE="settings")

    assert done.returncode == 0, done.stderr[-5000:]
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert told["http.paginate"] == "Not installed. To use it: pip install 'valkyr[http]'"
    assert "http.request" not in told
    assert told["sql.query"] == "Not installed. To use it: pip install 'valkyr[sql]'"
    assert "data.set" not in told


def test_the_version_is_told_without_a_settings_module(
    environment: Environment, tmp_path: Path
) -> None:
    done = environment.run("-c", "import valkyr; print(valkyr.__version__)", cwd=tmp_path)

    assert done.returncode == 0, done.stderr[-5000:]
