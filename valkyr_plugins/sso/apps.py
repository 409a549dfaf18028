"""The Django app of the plugin `sso`."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from executions.public.plugins import PluginConfig
from valkyr_plugins.sso.conf import SsoSettings

# The apps of allauth. Valkyr uses only its communication with the provider.
ALLAUTH = ("allauth", "allauth.account", "allauth.socialaccount")
MIDDLEWARE = "allauth.account.middleware.AccountMiddleware"
PASSWORDS = "django.contrib.auth.backends.ModelBackend"


class SsoConfig(PluginConfig):
    """Single sign-on with OpenID Connect; it is off unless the settings name a provider."""

    name = "valkyr_plugins.sso"
    label = "valkyr_sso"
    verbose_name = "Single sign-on"
    pages = "valkyr_plugins.sso.urls"

    settings_class = SsoSettings

    @classmethod
    def configure(cls, settings: MutableMapping[str, Any]) -> None:
        """Install allauth, enable sign-in through the provider, and show the provider's button.

        The stand-alone platform calls this method. A project calls it at the end of its settings
        module:

            from valkyr_plugins.sso.apps import SsoConfig

            SsoConfig.configure(globals())
        """
        _install(settings, cls.name)
        backends = list(settings.get("AUTHENTICATION_BACKENDS") or [PASSWORDS])
        own = f"{cls.name}.backends.PasswordBackend"
        settings["AUTHENTICATION_BACKENDS"] = [
            *(own if one == PASSWORDS else one for one in backends),
            f"{cls.name}.backends.SingleSignOnBackend",
        ]
        rule = {"USER_AUTHENTICATION_RULE": f"{cls.name}.backends.may_use_a_password"}
        settings["SIMPLE_JWT"] = {**settings.get("SIMPLE_JWT", {}), **rule}
        settings["SOCIALACCOUNT_ADAPTER"] = f"{cls.name}.adapter.SocialAccounts"
        settings["SOCIALACCOUNT_REQUESTS_TIMEOUT"] = 5
        settings["ACCOUNT_ADAPTER"] = f"{cls.name}.adapter.Accounts"
        settings["ACCOUNT_EMAIL_VERIFICATION"] = "none"
        templates = settings["TEMPLATES"][0]
        # Precedes templates of apps: django-unfold's sign-in page has no block for the button.
        templates.setdefault("DIRS", []).append(Path(__file__).parent / "templates")
        templates["OPTIONS"]["context_processors"].append(f"{cls.name}.views.sign_in")

    def ready(self) -> None:
        """Reject an incomplete provider; name `single sign-on` as the origin in audit entries."""
        from executions.public.access import DOORS
        from valkyr_plugins.sso.configuration import configured

        configured()  # rejects invalid settings at start-up
        DOORS["valkyr-sso-"] = "single sign-on"


def _install(settings: MutableMapping[str, Any], name: str) -> None:
    """Add allauth's apps before the plugin, and allauth's middleware, if they are missing."""
    apps = list(settings["INSTALLED_APPS"])
    place = apps.index(name)
    apps[place:place] = [app for app in ALLAUTH if app not in apps]
    settings["INSTALLED_APPS"] = apps
    if MIDDLEWARE not in settings["MIDDLEWARE"]:
        settings["MIDDLEWARE"] = [*settings["MIDDLEWARE"], MIDDLEWARE]
