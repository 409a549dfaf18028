"""Sign-in by JSON: a user name and password for a token pair, a refresh token for a new access.

Both are open to the world and therefore counted, by address and by user name.
"""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView
from rest_framework_simplejwt.exceptions import InvalidToken, TokenError
from rest_framework_simplejwt.serializers import (
    TokenObtainPairSerializer,
    TokenRefreshSerializer,
)

from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, Text


class Credentials(Body):
    """Who signs in."""

    username = Text(max_length=150)
    password = Text(max_length=1000, trim_whitespace=False)


class TokenPair(serializers.Serializer[Any]):
    """`access` goes into `Authorization: Bearer`, `refresh` gets a new one."""

    access = serializers.CharField()
    refresh = serializers.CharField()


class Refresh(Body):
    """A refresh token."""

    refresh = Text(max_length=4000)


class Access(serializers.Serializer[Any]):
    """A new access token."""

    access = serializers.CharField()


class ByAddress(SimpleRateThrottle):
    """So many tries a minute from one address."""

    scope = "sign-in by address"
    rate = "60/min"

    def get_cache_key(self, request: Request, view: APIView) -> str:
        """The peer's address; a forwarded one could be made up by the caller."""
        return f"valkyr:sign-in:address:{request.META.get('REMOTE_ADDR', '')}"


class ByName(SimpleRateThrottle):
    """So many tries a minute for one user name."""

    scope = "sign-in by name"
    rate = "20/min"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """The user name of the body, if there is one."""
        name = request.data.get("username") if isinstance(request.data, dict) else None
        return f"valkyr:sign-in:name:{name[:150].encode().hex()}" if isinstance(name, str) else None


class OpenEndpoint(Endpoint):
    """An address that needs no sign-in."""

    authentication_classes: Any = []
    permission_classes: Any = []


class ObtainToken(OpenEndpoint):
    """Sign in."""

    throttle_classes: Any = [ByAddress, ByName]

    @operation(
        "obtainToken",
        "Token",
        {200: TokenPair},
        request=Credentials,
        errors=[401, 429],
        public=True,
    )
    def post(self, request: Request) -> Response:
        """A token pair for a user name and password."""
        pair = TokenObtainPairSerializer(data=self.body(Credentials))
        pair.is_valid(raise_exception=True)
        return Response(pair.validated_data)

    def get_authenticate_header(self, request: Request) -> str:
        """What makes a refusal a 401."""
        return 'Bearer realm="valkyr"'


class RefreshToken(OpenEndpoint):
    """Stay signed in."""

    throttle_classes: Any = [ByAddress]

    @operation(
        "refreshToken",
        "Token",
        {200: Access},
        request=Refresh,
        errors=[401, 429],
        public=True,
    )
    def post(self, request: Request) -> Response:
        """A new access token for a refresh token."""
        pair = TokenRefreshSerializer(data=self.body(Refresh))
        try:
            pair.is_valid(raise_exception=True)
        except TokenError as error:
            raise InvalidToken(str(error)) from error
        return Response(pair.validated_data)

    def get_authenticate_header(self, request: Request) -> str:
        """What makes a refusal a 401."""
        return 'Bearer realm="valkyr"'
