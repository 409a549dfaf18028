"""The Django app of the plugin `mfa`."""

from collections.abc import MutableMapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from executions.public.plugins import PluginConfig
from valkyr_plugins.mfa.conf import MfaSettings

MIDDLEWARE = "valkyr_plugins.mfa.middleware.SecondFactorMiddleware"
# Middleware that finds a session's user and must precede the plugin's middleware.
BEFORE = (
    "executions.accounts.browser_sessions.BrowserSessions",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
)


class MfaConfig(PluginConfig):
    """Passkeys and one-time codes as second factors, and pages that require a recent sign-in."""

    name = "valkyr_plugins.mfa"
    label = "valkyr_mfa"
    verbose_name = "Second factor"
    pages = "valkyr_plugins.mfa.urls"
    settings_class = MfaSettings

    @classmethod
    def configure(cls, settings: MutableMapping[str, Any]) -> None:
        """Add the middleware after the one that finds the session's user.

        The stand-alone platform calls this method. A project calls it at the end of its settings
        module:

            from valkyr_plugins.mfa.apps import MfaConfig

            MfaConfig.configure(globals())
        """
        middleware = list(settings["MIDDLEWARE"])
        if MIDDLEWARE in middleware:
            return
        places = [place for place, one in enumerate(middleware) if one in BEFORE]
        if not places:
            raise ImproperlyConfigured(
                f"MIDDLEWARE names neither {BEFORE[0]!r} nor {BEFORE[1]!r}, so Valkyr cannot ask "
                "users for a code. Add one of them."
            )
        middleware.insert(places[-1] + 1, MIDDLEWARE)
        settings["MIDDLEWARE"] = middleware

    def ready(self) -> None:
        """Register the system check, the sign-in receiver, and the check of token exchanges."""
        from executions.public.access import DOORS
        from executions.public.accounts import second_factor
        from valkyr_plugins.mfa import (
            checks,  # noqa: F401 - registers on import
            progress,
        )

        second_factor.provide(progress.check_exchange)
        DOORS["valkyr-mfa"] = "second factor"
