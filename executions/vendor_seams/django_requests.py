"""Private state of Django's handlers and checks about a request and its response.

Relies on: `HttpResponse._handler_class`, the sender of `request_finished` when the response is
closed (receivers may filter by it); `CsrfViewMiddleware._origin_verified(request)`, which compares
the `Origin` header with the host and with CSRF_TRUSTED_ORIGINS (Django 5.2).
No public way: only Django's own handlers set the first; the middleware runs the second for unsafe
methods only, and a WebSocket's handshake is a GET.
If it breaks: `request_finished` names no sender; WebSockets with a cookie are rejected, or, if the
check always succeeded, open to foreign pages.
"""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware


def set_handler(answer: HttpResponseBase, handler: type) -> None:
    """Set the class of the response's handler, which `request_finished` names as its sender."""
    answer._handler_class = handler  # type: ignore[attr-defined]


def origin_verified(request: HttpRequest) -> bool:
    """Return whether the request's `Origin` is this host or a trusted origin.

    The request must have the header.
    """
    return bool(_csrf._origin_verified(request))


_csrf: Any = CsrfViewMiddleware(lambda request: None)  # type: ignore[arg-type]
