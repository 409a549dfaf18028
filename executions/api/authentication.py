"""Who calls: an API token, a JWT, or the admin's session with its CSRF token."""

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.contrib.rest_framework_simplejwt import SimpleJWTScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.settings import api_settings

from executions.accounts import authentication as last_use
from executions.accounts import authentication as signing_in
from executions.accounts import token_sessions, tokens
from executions.accounts.authentication import account_in_session
from executions.accounts.errors import TokenRefused
from executions.accounts.token_sessions import session_of
from executions.models import AccountSession, ApiToken

REALM = "valkyr"


class ApiTokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer vlk_…`. It comes first: its challenge makes refusals a 401."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """The token's user and the token; None for what is no API token of ours."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        text = text.strip()
        if scheme.lower() != "bearer" or not text.startswith(tokens.BEGINNING):
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

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """The account of a live session and the token; None for what is no bearer token."""
        try:
            found = super().authenticate(request)
        except TokenRefused as error:
            raise AuthenticationFailed(error.message, error.code) from None
        if found is not None:
            address = request.META.get("REMOTE_ADDR") or None
            session_id = session_of(found[1])
            last_use.note(AccountSession, session_id, self.seen.last_used, self.seen.now, address)
        return found

    def get_user(self, validated_token: Any) -> Any:
        """The account, read together with its session by one prepared statement."""
        self.seen = account_in_session(
            session_of(validated_token), validated_token.get(api_settings.USER_ID_CLAIM)
        )
        user = self.seen.user
        if not user.is_active:
            raise AuthenticationFailed("User is inactive", "user_inactive")
        if not token_sessions.is_of_password(validated_token, user):
            raise AuthenticationFailed("The user's password has been changed.", "password_changed")
        if not api_settings.USER_AUTHENTICATION_RULE(user):
            raise TokenRefused("This account may not sign in with a password.", "no_active_account")
        return user


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
