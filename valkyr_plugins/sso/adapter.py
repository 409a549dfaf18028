"""Hooks of allauth: read the provider from the settings, complete sign-ins, and disable sign-up."""

import logging
from typing import Any

import requests
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.base import AuthError
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponseRedirect

from valkyr_plugins.sso.accounts import admit
from valkyr_plugins.sso.configuration import configured
from valkyr_plugins.sso.responses import ProviderTrouble, Refused, failed, landing

log = logging.getLogger(__name__)
BACKEND = "valkyr_plugins.sso.backends.SingleSignOnBackend"
EXPIRED = (
    "This sign-in took longer than ten minutes, was already used, or began in another "
    "browser. Start again."
)


class Accounts(DefaultAccountAdapter):
    """Disables sign-up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: accounts come from the provider or from an administrator."""
        return False


class SocialAccounts(DefaultSocialAccountAdapter):
    """Reads the provider from the settings, completes sign-ins, and shows errors."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the provider from the settings, or []; ignore allauth's table."""
        sso = configured()
        if sso is None or provider not in (None, sso.issuer):
            return []
        return [
            SocialApp(
                provider="valkyr_oidc",
                provider_id=sso.issuer,
                name=sso.name,
                client_id=sso.client_id,
                secret=sso.client_secret,
                settings={
                    "server_url": sso.issuer.rstrip("/") + "/.well-known/openid-configuration",
                    "oauth_pkce_enabled": True,
                    "scope": list(sso.scopes),
                },
            )
        ]

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Always complete the sign-in here, because allauth would offer sign-up and linking."""
        sso = configured()
        assert sso is not None, "no sign-in comes so far without a provider"
        user = admit(sociallogin.claims, sso, request)
        login(request, user, backend=BACKEND)
        raise ImmediateHttpResponse(
            HttpResponseRedirect(landing(request, sociallogin.state.get("next"), user))
        )

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Show Valkyr's error page instead of allauth's."""
        raise ImmediateHttpResponse(_page(request, error, exception, extra_context or {}))


def _page(request: HttpRequest, error: Any, exception: Any, context: dict[str, Any]) -> Any:
    if isinstance(exception, Refused):
        return failed(request, 403, "You cannot sign in", str(exception))
    if isinstance(exception, ProviderTrouble | OAuth2Error | requests.RequestException):
        log.warning("Single sign-on failed: %s", str(exception)[:500])
        return failed(
            request,
            502,
            "The identity provider rejected the sign-in",
            "The provider could not be reached, or its response was not valid. Try again. If "
            "this does not help, an administrator can find the reason in the web process's "
            "log.",
        )
    if error == AuthError.CANCELLED:
        return failed(request, 401, "You are not signed in", "The sign-in was cancelled.")
    if context.get("state") is None:
        return failed(request, 400, "This sign-in has expired", EXPIRED)
    log.warning("Single sign-on: the provider answered error=%.100r", request.GET.get("error"))
    return failed(
        request,
        502,
        "The identity provider rejected the sign-in",
        "The provider returned an error. Try again, or ask the provider's administrator.",
    )
