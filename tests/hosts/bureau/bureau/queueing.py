"""The project's Celery app."""

import os

from celery import Celery

import valkyr

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bureau.settings")
app = Celery("bureau")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
valkyr.configure_celery(app)
