"""A backend for Django's Tasks framework; set it in `TASKS` as `valkyr.django_tasks.Backend`."""

from valkyr_plugins.task_backend.backend import Backend

__all__ = ["Backend"]
