"""Headers of Valkyr's own pages, such as a Content-Security-Policy that also forbids framing.

Each page sets them, so they apply in any project. A project's middleware that sets a policy
(django-csp, Django's) keeps a header that is already set.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

View = Callable[..., HttpResponseBase]
Policy = Mapping[str, Sequence[str]]
SELF = ("'self'",)
# No inline scripts or styles. `_OF_FILES` also allow the server of the static files.
STRICT: Policy = {
    "default-src": ("'none'",),
    "script-src": SELF,
    "style-src": SELF,
    "img-src": SELF,
    "font-src": SELF,
    "connect-src": SELF,
    "form-action": SELF,
    "base-uri": ("'none'",),
    "frame-ancestors": ("'none'",),
}
_OF_FILES = ("script-src", "style-src", "img-src", "font-src")


def own_page(**more: Sequence[str]) -> Callable[[View], View]:
    """Return a decorator that adds the strict policy and the other headers to a page.

    `more` sets the sources of directives; in a directive's name, `_` stands for `-`.
    """
    policy = {**STRICT, **{name.replace("_", "-"): sources for name, sources in more.items()}}

    def decorate(view: View) -> View:
        @wraps(view)
        def headed(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
            answer = view(request, *args, **named)
            answer.headers.setdefault("Content-Security-Policy", _text(policy))
            answer.headers.setdefault("Cache-Control", "no-store")
            answer.headers.setdefault("X-Frame-Options", "DENY")
            answer.headers.setdefault("X-Content-Type-Options", "nosniff")
            answer.headers.setdefault("Referrer-Policy", "same-origin")
            return answer

        return headed

    return decorate


def csrf_header() -> str:
    """Return the name of the header in which scripts send Django's CSRF token."""
    return settings.CSRF_HEADER_NAME.removeprefix("HTTP_").replace("_", "-")


def _text(policy: Policy) -> str:
    files = urlsplit(settings.STATIC_URL or "")
    elsewhere = (f"{files.scheme or 'https'}://{files.netloc}",) if files.netloc else ()
    return "; ".join(
        " ".join((name, *sources, *(elsewhere if name in _OF_FILES else ())))
        for name, sources in policy.items()
    )
