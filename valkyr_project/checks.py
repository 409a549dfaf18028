"""`manage.py check --deploy` names what is probably a mistake in production's settings."""

from typing import Any

from django.conf import settings
from django.core import checks

from valkyr_project.processes.production import warnings


@checks.register(checks.Tags.security, deploy=True)
def production(**_: Any) -> list[checks.CheckMessage]:
    """What does not keep the process from starting (that is refused in the settings)."""
    return [checks.Warning(text, id="valkyr.W001") for text in warnings(settings.INSTALLATION)]
