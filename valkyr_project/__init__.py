"""Wiring: settings, Celery, URLs, ASGI, embedded services. Nothing of the domain."""

from valkyr_project.celery import app as celery_app

__all__ = ["celery_app"]
