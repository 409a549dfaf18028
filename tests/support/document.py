"""The API's document, generated once per process, because it takes half a second of CPU."""

import json
from functools import cache
from typing import Any

from rest_framework.renderers import JSONRenderer

from executions.api import openapi


def document() -> dict[str, Any]:
    """Return a copy of the served document."""
    made: dict[str, Any] = json.loads(_made())
    return made


def answers_of(whole: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """Return an operation's answers by status, with references into the document resolved."""
    shared = whole["components"]["responses"]
    return {
        status: shared[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
        for status, answer in described["responses"].items()
    }


@cache
def _made() -> bytes:
    rendered: bytes = JSONRenderer().render(openapi.document())
    return rendered
