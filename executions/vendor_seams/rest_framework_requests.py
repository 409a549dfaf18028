"""Return the Django request behind a request of REST framework.

Relies on: `rest_framework.request.Request._request` (REST framework 3.15 to 3.18).
No public way: a request of REST framework forwards most attributes to Django's request, but has no
public attribute for that request itself.
If it breaks: webhooks, callbacks, exports and streams respond with 500.
"""

from typing import Any

from django.http import HttpRequest


def django_request(request: Any) -> HttpRequest:
    """Return the Django request that REST framework wraps, with its raw body and its session."""
    found: HttpRequest = request._request
    return found
