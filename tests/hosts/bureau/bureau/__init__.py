"""The project: its processes know its Celery app."""

from bureau.queueing import app as celery_app  # noqa: F401
