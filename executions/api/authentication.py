"""Who calls: a bearer token (JWT), or the admin's session with its CSRF token."""

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.contrib.rest_framework_simplejwt import SimpleJWTScheme
from rest_framework import authentication
from rest_framework_simplejwt.authentication import JWTAuthentication


class TokenAuthentication(JWTAuthentication):
    """`Authorization: Bearer <access>`. It comes first: its challenge makes refusals a 401."""

    www_authenticate_realm = "valkyr"


class SessionAuthentication(authentication.SessionAuthentication):
    """The admin's cookie; whatever changes something must carry the CSRF token."""


class TokenScheme(SimpleJWTScheme):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes bearer tokens."""

    target_class: Any = "executions.api.authentication.TokenAuthentication"


class CookieScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes the session."""

    target_class: Any = "executions.api.authentication.SessionAuthentication"
