"""The project's own REST framework classes: each behaves differently from Valkyr's API."""

import json
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response


class Wrapped(JSONRenderer):
    """JSON in an envelope, with keys in capitals."""

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        return json.dumps({"HOST": str(data)}).encode()


class First(BaseContentNegotiation):
    """Selects the first parser and renderer for every request."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class Badge(BaseAuthentication):
    """The project's own sign-in: `Authorization: Badge <user name>`."""

    def authenticate(self, request: Any) -> Any:
        from django.contrib.auth import get_user_model

        scheme, _, name = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Badge":
            return None
        return get_user_model().objects.get(username=name), None


def teapot(error: Exception, context: Any) -> Response:
    """Answer every error with the status 418."""
    return Response({"teapot": str(error)}, status=418)
