"""Sign-in by JSON: a user name and password for a token pair, a refresh token for a new access.

Both are open to the world and therefore counted, by address and by user name.
"""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework_simplejwt.exceptions import InvalidToken, TokenError
from rest_framework_simplejwt.serializers import (
    TokenObtainPairSerializer,
    TokenRefreshSerializer,
)

from executions.api import throttles
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, Text
from executions.audit.signing_in import record_token
from executions.rates import Rate


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


class OpenEndpoint(Endpoint):
    """An address that needs no sign-in."""

    authentication_classes: Any = []
    permission_classes: Any = []
    counts_refusals = False

    def rates(self) -> list[Rate]:
        """Nothing by itself: who asks is not known."""
        return []


class ObtainToken(OpenEndpoint):
    """Sign in."""

    def rates(self) -> list[Rate]:
        """Tries by address and by the name in the body."""
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
        """A token pair for a user name and password."""
        pair = TokenObtainPairSerializer(data=self.body(Credentials), context={"request": request})
        pair.is_valid(raise_exception=True)
        record_token(pair.user, request)
        return Response(pair.validated_data)

    def get_authenticate_header(self, request: Request) -> str:
        """What makes a refusal a 401."""
        return 'Bearer realm="valkyr"'


class RefreshToken(OpenEndpoint):
    """Stay signed in."""

    def rates(self) -> list[Rate]:
        """Tries by address."""
        return throttles.of_sign_in(self.request, None)

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
        except ObjectDoesNotExist:
            raise InvalidToken("The user of this token is gone.") from None
        return Response(pair.validated_data)

    def get_authenticate_header(self, request: Request) -> str:
        """What makes a refusal a 401."""
        return 'Bearer realm="valkyr"'
