"""A project with its own accounts, Django's own admin, and beat's own pages."""

from valkyr_project.celery import app as celery_app

__all__ = ["celery_app"]
