"""Report probable mistakes in the settings of a production system: `manage.py check --deploy`."""

from typing import Any

from django.conf import settings
from django.core import checks

from valkyr_project.processes.production import warnings


@checks.register(checks.Tags.security, deploy=True)
def production(**_: Any) -> list[checks.CheckMessage]:
    """Return warnings about problems that do not prevent a start.

    The settings module rejects configurations that must not start.
    """
    return [checks.Warning(text, id="valkyr.W001") for text in warnings(settings.INSTALLATION)]
