"""What Django's handlers and checks know of a request and its answer.

Relies on: `HttpResponse._handler_class`, the sender of `request_finished` when the answer is closed
(receivers may filter by it); `CsrfViewMiddleware._origin_verified(request)`, which compares the
`Origin` header with the host and with CSRF_TRUSTED_ORIGINS (Django 5.2).
No public way: only Django's own handlers set the first; the middleware runs the second for unsafe
methods only, and a WebSocket's handshake is a GET.
If it breaks: `request_finished` names no sender; WebSockets with a cookie are refused, or, were the
check to answer yes to everything, open to foreign pages.
"""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware


def set_handler(answer: HttpResponseBase, handler: type) -> None:
    """Name the handler that answered."""
    answer._handler_class = handler  # type: ignore[attr-defined]


def origin_verified(request: HttpRequest) -> bool:
    """Whether the request's `Origin` is this host or a trusted origin; it must have the header."""
    return bool(_csrf._origin_verified(request))


_csrf: Any = CsrfViewMiddleware(lambda request: None)  # type: ignore[arg-type]
