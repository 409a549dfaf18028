"""Defaults of all API views, independent of a project's REST_FRAMEWORK.

REST framework reads its defaults when its classes are created, and again at each request. In both
cases, this module provides the framework's own defaults, except where the API needs other values.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.utils import translation
from django.utils.module_loading import import_string
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.settings import DEFAULTS, IMPORT_STRINGS, APISettings

from executions.configuration import settings as valkyr_settings
from executions.definition.templating.render_guard import refused

# REST framework's settings for Valkyr's views. The header `Accept` selects the format; `?format=`
# is rejected as an unknown parameter.
_own: Any = {
    **DEFAULTS,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "executions.api.problems.handle",
}
FRAMEWORK: Any = APISettings(_own, DEFAULTS, IMPORT_STRINGS)


class JsonRenderer(JSONRenderer):
    """Renders JSON as the API promises: compact, in UTF-8, without NaN."""

    compact = True
    ensure_ascii = False
    strict = True


class AcceptHeader(DefaultContentNegotiation):
    """Selects the renderer from the `Accept` header, never from a parameter."""

    settings = FRAMEWORK


def added_authentication() -> list[type[Any]]:
    """Return the classes in VALKYR["AUTHENTICATION_CLASSES"], which are tried after Valkyr's."""
    named = valkyr_settings().authentication_classes
    return [import_string(one) for one in named]


@contextmanager
def surroundings() -> Iterator[None]:
    """Respond in English and forbid template rendering in this block, which runs a view."""
    with refused(), translation.override("en"):
        yield
