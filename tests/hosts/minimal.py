"""The documented edits of the output of `django-admin startproject`."""

from tests.hosts import errands
from tests.hosts.project import Edits

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
INSTALLED_APPS += ["django_tasks"]
TASKS = {"default": {"BACKEND": "valkyr.django_tasks.Backend"}}
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
        "shop/tasks.py": errands.TASKS,
        "shop/__init__.py": """
from .celery import app as celery_app
""",
    },
)
