"""The backend of Django's Tasks framework, as `TASKS` names it: `valkyr.django_tasks.Backend`."""

from valkyr_plugins.task_backend.backend import Backend

__all__ = ["Backend"]
