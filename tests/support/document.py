"""The API's document, made once a process: half a second of a processor for each who asks."""

import json
from functools import cache
from typing import Any

from rest_framework.renderers import JSONRenderer

from executions.api import openapi


def document() -> dict[str, Any]:
    """The document as it is served, each time one of the caller's own."""
    made: dict[str, Any] = json.loads(_made())
    return made


@cache
def _made() -> bytes:
    rendered: bytes = JSONRenderer().render(openapi.document())
    return rendered
