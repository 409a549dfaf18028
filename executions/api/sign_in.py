"""Sign in with JSON, get the next token pair for a refresh token, and sign out.

All three operations are public, so they are rate-limited by address; sign-ins also by user name.
"""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework_simplejwt.serializers import TokenObtainSerializer

from executions.access.people import LONGEST_NAME
from executions.accounts import token_sessions
from executions.accounts.errors import TokenRefused
from executions.accounts.sessions import SessionClient
from executions.accounts.token_sessions import Pair
from executions.admission.rates import Rate
from executions.api import throttles
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCase, Text
from executions.audit.sign_ins import record_token
from executions.database import transaction
from executions.ports import second_factor


class Credentials(Body):
    """The body of `obtainToken`: a user name, a password and, for a second factor, a code."""

    username = Text(max_length=LONGEST_NAME, help_text="The user name of the account.")
    password = Text(max_length=1000, trim_whitespace=False)
    code = Text(
        max_length=40,
        required=False,
        help_text=(
            "A code from the authenticator app, or a recovery code, if the account has a second "
            "factor."
        ),
    )


class TokenPair(CamelCase, serializers.Serializer[Pair]):
    """Send `access` in `Authorization: Bearer`; exchange `refresh`, once, for the next pair."""

    access = serializers.CharField()
    refresh = serializers.CharField()


class Refresh(Body):
    """The body of `refreshToken`."""

    refresh = Text(max_length=4000)


class Revocation(Body):
    """The body of `revokeToken`, with RFC 7009's field names: a token of the session to end."""

    as_declared = frozenset({"token_type_hint"})

    token = Text(max_length=4000, help_text="A refresh token, or an access token.")
    token_type_hint = serializers.ChoiceField(
        ["refresh_token", "access_token"],
        required=False,
        help_text="As in RFC 7009; optional, because both kinds are recognised.",
    )


class OpenEndpoint(Endpoint):
    """The base of endpoints that need no sign-in."""

    authentication_classes: Any = []
    permission_classes: Any = []
    counts_refusals = False

    def rates(self) -> list[Rate]:
        """Return [], because the caller is unknown."""
        return []


class ObtainToken(OpenEndpoint):
    """The endpoint that exchanges a user name and a password for a token pair."""

    def rates(self) -> list[Rate]:
        """Return the limits on sign-ins: per address, and per user name in the body."""
        data = self.request.data
        name = data.get("username") if isinstance(data, dict) else None
        return throttles.of_sign_in(self.request, name)

    @operation(
        "obtainToken",
        "Token",
        {200: TokenPair},
        request=Credentials,
        errors=[401, 429],
        public=True,
    )
    def post(self, request: Request) -> Response:
        """Return a token pair for a user name, a password and, if the account needs it, a code."""
        body = self.body(Credentials)
        named = {TokenObtainSerializer.username_field: body["username"]}
        data = {**named, "password": body["password"]}
        given = TokenObtainSerializer(data=data, context={"request": request})
        given.is_valid(raise_exception=True)
        _require_second_factor(given.user, body.get("code", ""), request)
        with transaction.atomic():
            record_token(given.user, request)
            pair = token_sessions.sign_in(given.user, SessionClient.of(request))
        return Response(TokenPair(pair).data)

    def get_authenticate_header(self, request: Request) -> str:
        """Return the `WWW-Authenticate` challenge, so that a rejected request gets a 401."""
        return 'Bearer realm="valkyr"'


def _require_second_factor(user: Any, code: str, request: Request) -> None:
    """Raise AuthenticationFailed if the account needs a second factor and `code` is not valid."""
    if not second_factor.provided:
        return
    try:
        second_factor(user, code, request)
    except TokenRefused as error:
        raise AuthenticationFailed(error.message, error.code) from None


class RefreshToken(OpenEndpoint):
    """The endpoint that exchanges a refresh token for the next pair."""

    def rates(self) -> list[Rate]:
        """Return the rate limit of sign-ins by address."""
        return throttles.of_sign_in(self.request, None)

    @operation(
        "refreshToken",
        "Token",
        {200: TokenPair},
        request=Refresh,
        errors=[401, 429],
        public=True,
    )
    def post(self, request: Request) -> Response:
        """Exchange a refresh token for the next token pair; each refresh token works once.

        A reused refresh token ends its session, since another client may have the new token. A
        client that received no response must sign in again. A client must not refresh concurrently.
        """
        given = self.body(Refresh)["refresh"]
        try:
            pair = token_sessions.refresh(given, SessionClient.of(request), request)
        except TokenRefused as error:
            raise AuthenticationFailed(error.message, error.code) from None
        return Response(TokenPair(pair).data)

    def get_authenticate_header(self, request: Request) -> str:
        """Return the `WWW-Authenticate` challenge, so that a rejected request gets a 401."""
        return 'Bearer realm="valkyr"'


class RevokeToken(OpenEndpoint):
    """The endpoint that ends a session."""

    def rates(self) -> list[Rate]:
        """Return the rate limit of sign-ins by address."""
        return throttles.of_sign_in(self.request, None)

    @operation(
        "revokeToken",
        "Token",
        {200: None},
        request=Revocation,
        errors=[429],
        public=True,
    )
    def post(self, request: Request) -> Response:
        """End a token's session, so that all tokens of the session are rejected (RFC 7009).

        An unknown, expired or revoked token gets the same response.
        """
        token_sessions.revoke(self.body(Revocation)["token"], request)
        return Response()
