"""Requests render no templates of tenants: workers do."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from executions.definition.templating.refusal import refused


class NoRendering:
    """Middleware that refuses rendering while a request is answered, in every kind of process."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Wrap `get_response`."""
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the answer."""
        with refused():
            return self._get_response(request)
