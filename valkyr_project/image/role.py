"""Set the environment, title, settings and log format of a forked process."""

import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from django.conf import settings
from setproctitle import setproctitle

from executions.configuration import forget
from executions.vendor_seams import django_settings
from valkyr_project import logs
from valkyr_project.celery import read_again


def take(program: ModuleType, words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Become the process `python -m program words…`, with `environment` added."""
    os.environ.update(environment)
    sys.argv = [str(program.__file__), *words]
    setproctitle(" ".join([sys.executable, "-m", program.__name__, *words]))
    # Settings depend on the role, for example the connection pool (VALKYR_POOL).
    django_settings.read_again()
    forget()
    read_again()
    logs.set_up(settings.LOGGING)
