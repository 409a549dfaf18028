"""Check that the plugin's middleware is installed; without it, no code is required."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

from valkyr_plugins.mfa.apps import MIDDLEWARE


@register(Tags.security)
def middleware(**_: Any) -> list[CheckMessage]:
    """Check that the project installs the middleware."""
    if MIDDLEWARE in settings.MIDDLEWARE:
        return []
    return [
        Error(
            f"valkyr_plugins.mfa is installed, but MIDDLEWARE lacks {MIDDLEWARE!r}, so no sign-in "
            "is asked for its second factor.",
            hint="End the settings module with `MfaConfig.configure(globals())`, or remove the "
            "plugin.",
            id="valkyr_mfa.E001",
        )
    ]
