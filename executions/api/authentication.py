"""Authenticate callers: an API token, a JWT, or the admin's session with its CSRF token."""

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.contrib.rest_framework_simplejwt import SimpleJWTScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.exceptions import InvalidToken, TokenError
from rest_framework_simplejwt.settings import api_settings

from executions.accounts import authentication as last_use
from executions.accounts import authentication as signing_in
from executions.accounts import tokens
from executions.accounts.authentication import account_in_session
from executions.accounts.errors import TokenRefused
from executions.accounts.token_sessions import (
    SessionAccess,
    is_of_password,
    is_ours,
    session_of,
)
from executions.api.pinned import added_authentication
from executions.models import ApiToken

REALM = "valkyr"


class ApiTokenAuthentication(authentication.BaseAuthentication):
    """Authenticates callers with an API token in `Authorization: Bearer vlk_…`.

    This class is the first authenticator, so rejected requests get a 401 with its challenge.
    """

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """Return the token's user and the token; None if the header has no Valkyr API token.

        Raises AuthenticationFailed if the token is rejected.
        """
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        text = text.strip()
        if scheme.lower() != "bearer" or not text.startswith(tokens.BEGINNING):
            return None
        try:
            address = request.META.get("REMOTE_ADDR") or None
            return signing_in.signed_in(text, address, _likely(request))
        except TokenRefused as error:
            raise AuthenticationFailed(error.message, error.code) from None

    def authenticate_header(self, request: Request) -> str:
        """Return the `WWW-Authenticate` challenge of a 401 response."""
        return f'Bearer realm="{REALM}"'


class TokenAuthentication(JWTAuthentication):
    """Authenticates callers with a JWT in `Authorization: Bearer <access>`.

    Callers obtain the JWT with a user name and password. Of a project's SIMPLE_JWT, only
    USER_AUTHENTICATION_RULE and the settings for signing and for claim names are used.
    """

    www_authenticate_realm = REALM

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return a live session's account and the token; None if there is no bearer token.

        Also returns None for a bearer token that Valkyr did not issue, if the project's own
        authentication classes may accept it. Raises AuthenticationFailed or InvalidToken for all
        other rejected tokens.
        """
        self.likely = _likely(request)
        try:
            found = super().authenticate(request)
        except TokenRefused as error:
            raise AuthenticationFailed(error.message, error.code) from None
        except InvalidToken:
            if added_authentication() and not is_ours(self._raw_token(request)):
                return None
            raise
        if found is not None:
            address = request.META.get("REMOTE_ADDR") or None
            session_id = session_of(found[1])
            used = self.seen
            last_use.note_session(session_id, used.last_used, used.now, address)
        return found

    def get_header(self, request: Request) -> Any:
        """Return the Authorization header, regardless of AUTH_HEADER_NAME; None if missing."""
        return request.META.get("HTTP_AUTHORIZATION", "").encode("iso-8859-1") or None

    def get_raw_token(self, header: bytes) -> bytes | None:
        """Return the token of `Bearer …`, regardless of AUTH_HEADER_TYPES; None for another scheme.

        Raises AuthenticationFailed unless exactly one token follows `Bearer`.
        """
        scheme, *tokens = header.split() or [b""]
        if scheme.lower() != b"bearer":
            return None
        if len(tokens) != 1:
            raise AuthenticationFailed(
                "Expected `Authorization: Bearer <token>`.", "bad_authorization_header"
            )
        return tokens[0]

    def get_validated_token(self, raw_token: bytes) -> Any:
        """Return a session's access token.

        Raises InvalidToken if its form or signature is not valid, or if it has expired.
        """
        try:
            return SessionAccess(raw_token)  # type: ignore[arg-type]
        except TokenError:
            raise InvalidToken("This access token is not valid. Sign in again.") from None

    def get_user(self, validated_token: Any) -> Any:
        """Return the account, read together with its session by one prepared statement.

        Raises TokenRefused if the session has ended or the account may not use the token.
        """
        self.seen = account_in_session(
            session_of(validated_token),
            validated_token.get(api_settings.USER_ID_CLAIM),
            self.likely,
        )
        user = self.seen.user
        if not user.is_active:
            raise TokenRefused("This account is inactive.", "user_inactive")
        if not is_of_password(validated_token, user):
            raise TokenRefused("The password has been changed. Sign in again.", "password_changed")
        if not api_settings.USER_AUTHENTICATION_RULE(user):
            raise TokenRefused(
                "This account cannot sign in with a password. Use single sign-on or an API token.",
                "no_active_account",
            )
        return user

    def _raw_token(self, request: Request) -> bytes:
        return self.get_raw_token(self.get_header(request)) or b""


def _likely(request: Request) -> signing_in.Likely:
    """Return the view's method `likely`, or, if it has none, a function that returns no queries."""
    view = (request.parser_context or {}).get("view")
    found: signing_in.Likely = getattr(view, "likely", signing_in.nothing)
    return found


class SessionAuthentication(authentication.SessionAuthentication):
    """Authenticates callers with the admin's session cookie; unsafe requests need a CSRF token."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return the session's user and None as the token; None if there is no user.

        Raises AuthenticationFailed for an incomplete sign-in and PermissionDenied for a CSRF error.
        """
        refusal = getattr(request, signing_in.SESSION_REFUSAL, None)
        if refusal is not None:
            raise AuthenticationFailed(refusal.message, refusal.code)
        return super().authenticate(request)


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes API tokens in the OpenAPI document."""

    target_class: Any = "executions.api.authentication.ApiTokenAuthentication"
    name: Any = "apiToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """Return the scheme's entry in the OpenAPI document."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "vlk_…",
            "description": "An API token, for one workspace and some scopes (`createApiToken`).",
        }


class TokenScheme(SimpleJWTScheme):  # type: ignore[no-untyped-call]
    """Describes JWTs in the OpenAPI document."""

    target_class: Any = "executions.api.authentication.TokenAuthentication"


class CookieScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """Describes the session cookie in the OpenAPI document."""

    target_class: Any = "executions.api.authentication.SessionAuthentication"
