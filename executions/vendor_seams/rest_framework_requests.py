"""The Django request behind one of REST framework.

Relies on: `rest_framework.request.Request._request` (REST framework 3.15 to 3.18).
No public way: attributes are proxied to it, except those that REST framework answers itself, such
as the raw body and the user of the browser's session.
If it breaks: webhooks, callbacks, exports and streams answer 500.
"""

from typing import Any

from django.http import HttpRequest


def django_request(request: Any) -> HttpRequest:
    """The request as Django made it, its body unread and its user that of the session."""
    found: HttpRequest = request._request
    return found
