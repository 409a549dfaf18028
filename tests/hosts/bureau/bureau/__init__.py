"""The project's package; it imports the Celery app, so that all processes use it."""

from bureau.queueing import app as celery_app  # noqa: F401
