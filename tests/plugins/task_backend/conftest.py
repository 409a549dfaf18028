"""Use the settings of `project.py`, in the same Django process."""

from django.conf import settings

from tests.plugins.task_backend import project

settings.TASKS = project.TASKS
