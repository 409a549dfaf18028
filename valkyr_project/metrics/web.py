"""The web process: `/metrics`, and the durations of the API's operations.

The middleware precedes nearly all others. A scrape therefore needs no configured host name and is
not redirected to HTTPS, and a request's time includes the middleware that follows.
"""

import time
from collections.abc import Callable, Iterable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from prometheus_client import CONTENT_TYPE_LATEST, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from dlq.metrics import DATABASE
from executions.live.event_stream import PLACES
from executions.observability import metric_values
from executions.observability.metrics import REQUESTS
from executions.observability.metrics_access import access
from valkyr_project.http import load_shedding

PATH = "/metrics"
PAGE, NOTHING = "(page)", "(none)"


class Metrics:
    """A middleware that serves `/metrics` and measures every other request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        """Wrap `get_response`, the next middleware or the view."""
        self._get_response = get_response
        access(local=settings.INSTALLATION.local)  # a guessable token stops the start

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the metrics for `/metrics`; pass any other request on, and measure it."""
        if request.path_info == PATH:
            return scrape(request)
        began = time.perf_counter()
        answer = self._get_response(request)
        seconds = time.perf_counter() - began
        REQUESTS.labels(_operation(request), answer.status_code).observe(seconds)
        return answer


class Everything(Collector):
    """This process's metrics, its viewers and waiting requests, and values from the database."""

    def collect(self) -> Iterable[Metric]:
        """Yield all families of metrics."""
        yield from metric_values.registry().collect()
        yield from DATABASE.collect()
        yield GaugeMetricFamily(
            "valkyr_live_viewers", "Live viewers of this web process.", PLACES.taken()
        )
        yield GaugeMetricFamily(
            "valkyr_http_requests_waiting",
            "Requests that wait in this web process because it has too many.",
            load_shedding.places().waiting,
        )


def scrape(request: HttpRequest) -> HttpResponse:
    """Return the metrics as text, or a 401 if the client may not read metrics."""
    allowed = access(local=settings.INSTALLATION.local).allows(
        request.headers.get("Authorization", ""), str(request.META.get("REMOTE_ADDR", ""))
    )
    if allowed:
        answer = HttpResponse(generate_latest(Everything()), content_type=CONTENT_TYPE_LATEST)
    else:
        sentence = (
            "Send VALKYR_METRICS_TOKEN as a bearer token, or use a network in "
            "VALKYR_METRICS_NETWORKS.\n"
        )
        answer = HttpResponse(sentence, status=401, content_type="text/plain; charset=utf-8")
        answer.headers["WWW-Authenticate"] = 'Bearer realm="metrics"'
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer


def _operation(request: HttpRequest) -> str:
    """Return the ID of the API's operation; a constant for pages and for unknown addresses."""
    match = request.resolver_match
    if match is None:
        return NOTHING
    view = getattr(match.func, "view_class", getattr(match.func, "cls", None))
    method = getattr(view, str(request.method).lower(), None)
    return str(getattr(method, "operation_id", PAGE))
