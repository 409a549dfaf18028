"""The address of the MCP server: each POST carries one message of the protocol."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from executions.public.api import Endpoint
from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.tools.base import ToolCaller


class McpNotInstalled(APIException):
    """The web process lacks the official MCP SDK."""

    status_code = 501
    default_detail = "The package mcp is not installed. Install valkyr[mcp] and restart."
    default_code = "mcp_not_installed"


class ForeignOrigin(APIException):
    """A page of another site sent the request (DNS rebinding)."""

    status_code = 403
    default_detail = "A page of another site sent this request. Call this address from a program."
    default_code = "foreign_origin"


@extend_schema(exclude=True)
class McpServer(Endpoint):
    """The MCP server, over streamable HTTP without sessions or streams.

    It is not part of the API's description, because the protocol describes its own messages. It
    does not accept a browser's session, so that no page can call tools as the user.
    """

    def get_authenticators(self) -> list[Any]:
        """Return all authenticators, including the project's own, except those for sessions."""
        found = super().get_authenticators()
        return [one for one in found if not isinstance(one, SessionAuthentication)]

    def post(self, request: Request) -> Any:
        """Answer one message. Raises McpNotInstalled or ForeignOrigin."""
        _refuse_foreign(request)
        try:
            from valkyr_plugins.mcp import server, transport
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
                raise
            raise McpNotInstalled from None
        token = request.auth if getattr(request.auth, "name", "") else None
        caller = ToolCaller(InProcessApi(self.user, token, self.actor))
        return transport.answer(server.server(caller, _version()), request)


def _refuse_foreign(request: Request) -> None:
    """Raise ForeignOrigin for a browser's request from another site (DNS rebinding)."""
    origin = request.headers.get("Origin")
    ours = f"{request.scheme}://{request.get_host()}"
    if origin and origin not in {ours, *settings.CSRF_TRUSTED_ORIGINS}:
        raise ForeignOrigin


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("valkyr")
    except PackageNotFoundError:
        return ""
