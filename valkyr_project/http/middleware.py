"""Valkyr's Django middleware, and the Content-Security-Policy."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import get_max_age

from executions.definition.templating.render_guard import refused

# Features that our pages do not use, and that no script may use. Browsers report unknown names,
# which the browser tests would detect.
PERMISSIONS = ", ".join(
    f"{name}=()"
    for name in (
        *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media"),
        *("fullscreen", "geolocation", "gyroscope", "hid", "idle-detection", "magnetometer"),
        *("microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock", "serial"),
        *("usb", "xr-spatial-tracking"),
    )
)
# Sign-in uses passkeys, but frames of other sites must not.
PERMISSIONS += ", publickey-credentials-get=(self), publickey-credentials-create=(self)"


# Types without the header Permissions-Policy, which browsers apply only to documents and workers.
# It has 500 bytes, and a page has about 40 files.
NO_DOCUMENTS = ("text/css", "text/javascript", "font/")


class SecurityHeaders:
    """Sets security headers; forbids caching unless the response sets Cache-Control."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Wrap `get_response`, the next middleware or the view."""
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response with the security headers."""
        answer = self._get_response(request)
        if not answer.get("Content-Type", "").startswith(NO_DOCUMENTS):
            answer.headers.setdefault("Permissions-Policy", PERMISSIONS)
        answer.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        answer.headers.setdefault("Cache-Control", "no-store")
        return answer


class PageCompression(GZipMiddleware):
    """Compresses pages, scripts, and the JSON that browsers may cache, such as the list of modules.

    Pages have no secret that an attacker could guess from the length of a response (BREACH): Django
    masks CSRF tokens differently in each response, and gives compressed responses a random length.
    Other JSON is not compressed: it can contain secrets, and is small. Streams are sent as they are
    written.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return the response, compressed if its type allows this and the browser accepts it."""
        if response.streaming or not _compressible(response):
            return response
        return super().process_response(request, response)


def _compressible(response: HttpResponseBase) -> bool:
    kind = response.get("Content-Type", "").partition(";")[0]
    if kind == "application/json":
        return bool(get_max_age(response))  # `never_cache` says max-age=0
    return kind in {"text/html", "text/javascript"}


class NoRendering:
    """Prevents templates of workflows from being rendered while a request is handled.

    Workers render these templates; in a request, only an `allowed` block may render small values.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Wrap `get_response`, the next middleware or the view."""
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response; while it is created, workflow templates cannot be rendered."""
        with refused():
            return self._get_response(request)


# The Content-Security-Policy allows no inline scripts, and two inline style blocks by their hashes.


# Hashes of Unfold's theme colours and of htmx's indicator styles; a test compares them with the
# served pages.
STYLE_HASHES = [
    "'sha256-/RlfhfmWDOKNHg+Yx1JTcIFQJwhzMrXANWAxbKknRAw='",
    "'sha256-bsV5JivYxvGywDAZ22EZJKBFip65Ng9xoJVLbBg7bdo='",
]
ADMIN_POLICY: dict[str, list[str]] = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "style-src-elem": ["'self'", *STYLE_HASHES],
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["'self'", "data:"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "form-action": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
}
