"""Call the API's operations in this process, as the caller of the current request.

Each call is a request to a view: it has the caller's permissions and token scopes, counts against
the caller's rate limits, sees only rows that the caller may see, and shows masked values. The views
decide what a caller may do; this module rejects only writes without `writing`.
"""

import json
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http.response import HttpResponseBase
from django.urls import get_script_prefix, resolve

from executions.public import addresses
from executions.public.access import Actor, User

JSON = "application/json"
# Operations that only read, although they have a body.
READING = frozenset({"redrives-preview"})


class ApiRefused(Exception):
    """The API or a tool rejected an operation; `problem` has the fields of RFC 9457."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(str(problem.get("detail", "")))
        self.status = status
        self.problem = problem


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """A response: its JSON, the cursor of the next page, and its ETag."""

    data: Any
    cursor: str = ""
    etag: str = ""

    @property
    def revision(self) -> str:
        """Return the revision of a draft, from the ETag."""
        return self.etag.strip('"')


@dataclass(frozen=True, slots=True)
class InProcessApi:
    """The API, called as one user.

    `token` is the caller's token, and `actor` is for the audit trail. Without `writes`, the API
    only reads, so that a tool cannot write by mistake; `writing` returns an API that also writes.
    """

    user: User
    token: Any
    actor: Actor
    writes: bool = False

    def writing(self) -> "InProcessApi":
        """Return an API for the same caller that also writes, for example to apply a proposal."""
        return replace(self, writes=True)

    def has(self, route: str, **named: Any) -> bool:
        """Return whether this installation has the route; plugins may be missing."""
        return addresses.has(route, **named)

    def get(self, route: str, query: dict[str, Any] | None = None, **named: Any) -> ApiAnswer:
        """Return the response of a GET operation. Raises ApiRefused."""
        return self.call("GET", route, query=query, **named)

    def call(
        self,
        method: str,
        route: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        **named: Any,
    ) -> ApiAnswer:
        """Perform one operation. Raises ApiRefused if it fails, or if writing is not allowed."""
        if method != "GET" and route not in READING and not self.writes:
            raise ApiRefused(403, {"detail": "This tool may not write. Propose the change."})
        request = self._request(method, addresses.api(route, **named), body, query or {}, headers)
        response = _answered(request)
        data = json.loads(_content(response) or b"null")
        if response.status_code >= 400:
            raise ApiRefused(response.status_code, data if isinstance(data, dict) else {})
        return ApiAnswer(data, _cursor(response), response.headers.get("ETag", ""))

    def _request(
        self,
        method: str,
        address: str,
        body: Any,
        query: dict[str, Any],
        headers: dict[str, str] | None,
    ) -> WSGIRequest:
        # The function sets what authentication would set, as in calls from the command line.
        from rest_framework.test import force_authenticate

        content = b"" if body is None else json.dumps(body, default=str).encode()
        prefix = get_script_prefix()
        request = WSGIRequest(
            {
                "REQUEST_METHOD": method,
                "SCRIPT_NAME": prefix.rstrip("/"),
                "PATH_INFO": f"/{address.removeprefix(prefix)}",
                "QUERY_STRING": urlencode(_given(query)),
                "CONTENT_TYPE": JSON if content else "",
                "CONTENT_LENGTH": str(len(content)),
                "HTTP_ACCEPT": JSON,
                "SERVER_NAME": _host(),
                "SERVER_PORT": "80",
                "REMOTE_ADDR": self.actor.address or "",
                "wsgi.input": BytesIO(content),
                "wsgi.url_scheme": "http",
                # No HTTP header can set a name with a dot.
                "valkyr.door": self.actor.via,
                **{f"HTTP_{k.upper().replace('-', '_')}": v for k, v in (headers or {}).items()},
            }
        )
        force_authenticate(request, self.user, self.token)
        return request


def _answered(request: WSGIRequest) -> Any:
    match = resolve(request.path_info)
    request.resolver_match = match
    response: Any = match.func(request, *match.args, **match.kwargs)
    if hasattr(response, "render"):
        response.render()
    return response


def _content(response: HttpResponseBase) -> bytes:
    streamed: Any = response
    return b"".join(streamed.streaming_content) if response.streaming else bytes(streamed.content)


def _cursor(response: HttpResponseBase) -> str:
    link = response.headers.get("Link", "")
    if 'rel="next"' not in link:
        return ""
    query = urlsplit(link.partition("<")[2].partition(">")[0]).query
    return parse_qs(query).get("cursor", [""])[0]


def _given(query: dict[str, Any]) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }


def _host() -> str:
    """Return a host name that the project accepts."""
    names = [name.removeprefix(".") for name in settings.ALLOWED_HOSTS if name != "*"]
    return names[0] if names else "localhost"
