"""The backend of Django's Tasks framework, for `TASKS`: `valkyr.django_tasks.Backend`."""

from valkyr_plugins.task_backend.backend import Backend

__all__ = ["Backend"]
