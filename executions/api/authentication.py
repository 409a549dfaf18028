"""Who calls: an API token, a JWT, or the admin's session with its CSRF token."""

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.contrib.rest_framework_simplejwt import SimpleJWTScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework_simplejwt.authentication import JWTAuthentication

from executions.accounts import signing_in, token_text
from executions.accounts.errors import TokenRefused
from executions.accounts.finding import Accounts
from executions.models import ApiToken

REALM = "valkyr"


class ApiTokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer vlk_…`. It comes first: its challenge makes refusals a 401."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """The token's user and the token; None for what is no API token of ours."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        text = text.strip()
        if scheme.lower() != "bearer" or not text.startswith(token_text.BEGINNING):
            return None
        try:
            return signing_in.signed_in(text, request.META.get("REMOTE_ADDR") or None)
        except TokenRefused as error:
            raise AuthenticationFailed(error.message, error.code) from None

    def authenticate_header(self, request: Request) -> str:
        """The challenge of a refusal."""
        return f'Bearer realm="{REALM}"'


class TokenAuthentication(JWTAuthentication):
    """`Authorization: Bearer <access>`, a JWT for a user name and password."""

    www_authenticate_realm = REALM

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Have accounts found by a statement that is prepared."""
        super().__init__(*args, **kwargs)
        self.user_model: Any = Accounts()


class SessionAuthentication(authentication.SessionAuthentication):
    """The admin's cookie; whatever changes something must carry the CSRF token."""


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes API tokens."""

    target_class: Any = "executions.api.authentication.ApiTokenAuthentication"
    name: Any = "apiToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """The scheme's entry."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "vlk_…",
            "description": "An API token, for one workspace and some scopes (`createApiToken`).",
        }


class TokenScheme(SimpleJWTScheme):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes JWTs."""

    target_class: Any = "executions.api.authentication.TokenAuthentication"


class CookieScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes the session."""

    target_class: Any = "executions.api.authentication.SessionAuthentication"
