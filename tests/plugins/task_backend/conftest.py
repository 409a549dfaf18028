"""The tests have the settings of `project.py`, without another Django process."""

from django.conf import settings

from tests.plugins.task_backend import project

settings.TASKS = project.TASKS
