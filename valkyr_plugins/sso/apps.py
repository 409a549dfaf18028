"""The plugin `sso`."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from executions.public.plugins import PluginConfig
from valkyr_plugins.sso.configuration import from_environment

# Of allauth nothing but the conversation with the provider is used.
ALLAUTH = ("allauth", "allauth.account", "allauth.socialaccount")
PASSWORDS = "django.contrib.auth.backends.ModelBackend"


class SsoConfig(PluginConfig):
    """Single sign-on by OpenID Connect; without a provider in the environment it adds nothing."""

    name = "valkyr_plugins.sso"
    label = "valkyr_sso"
    verbose_name = "Single sign-on"
    pages = "valkyr_plugins.sso.urls"

    @classmethod
    def configure(cls, settings: MutableMapping[str, Any]) -> None:
        """Install allauth, let sessions begin at the provider, and show its button."""
        settings["SINGLE_SIGN_ON"] = from_environment()
        apps = settings["INSTALLED_APPS"]
        apps[apps.index(cls.name) : apps.index(cls.name)] = ALLAUTH
        settings["MIDDLEWARE"].append("allauth.account.middleware.AccountMiddleware")
        backends = settings["AUTHENTICATION_BACKENDS"]
        backends[backends.index(PASSWORDS)] = f"{cls.name}.backends.PasswordBackend"
        backends.append(f"{cls.name}.backends.SingleSignOnBackend")
        settings["SIMPLE_JWT"]["USER_AUTHENTICATION_RULE"] = (
            f"{cls.name}.backends.may_use_a_password"
        )
        settings["SOCIALACCOUNT_ADAPTER"] = f"{cls.name}.adapter.SocialAccounts"
        settings["SOCIALACCOUNT_REQUESTS_TIMEOUT"] = 5
        settings["ACCOUNT_ADAPTER"] = f"{cls.name}.adapter.Accounts"
        settings["ACCOUNT_EMAIL_VERIFICATION"] = "none"
        templates = settings["TEMPLATES"][0]
        # Before those of apps: the sign-in page of django-unfold has no place for the button.
        templates["DIRS"].append(Path(__file__).parent / "templates")
        templates["OPTIONS"]["context_processors"].append(f"{cls.name}.views.sign_in")

    def ready(self) -> None:
        """Name these addresses in the audit trail."""
        from executions.public.access import DOORS

        DOORS["valkyr-sso-"] = "single sign-on"
