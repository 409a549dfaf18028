"""All URLs of a urlconf, as paths to request."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from django.urls import get_resolver

PARAMETER = re.compile(r"<(?:(\w+):)?\w+>")


def addresses(urlconf: Any = None, *, leave_out: tuple[str, ...] = ("admin/",)) -> list[str]:
    """Return each route outside the prefixes in `leave_out`, with invented parameters."""
    found = _routes(get_resolver(urlconf).url_patterns, "")
    return [f"/{PARAMETER.sub(_made_up, one)}" for one in found if not one.startswith(leave_out)]


def _routes(patterns: Any, above: str) -> Iterator[str]:
    for pattern in patterns:
        route = f"{above}{pattern.pattern}"
        if hasattr(pattern, "url_patterns"):
            yield from _routes(pattern.url_patterns, route)
        elif "^" not in route:
            yield route


def _made_up(parameter: re.Match[str]) -> str:
    return {"int": "1", "uuid": str(uuid4())}.get(parameter[1], "made-up")
