"""ETags: for drafts and rows, a number that each change increases; for fixed content, a digest."""

import re
from typing import Any

from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from executions import payloads
from executions.api.pinned import JsonRenderer
from executions.models import Workflow

_TAG = re.compile(r'"(\d{1,9})"')
NEVER = 0  # revisions count from 1


def of(workflow: Workflow) -> str:
    """Return the draft's ETag."""
    return tag(workflow.revision)


def expected(request: Request, workflow: Workflow) -> int | None:
    """Return the draft's revision that If-Match requires, or None; see `asked`."""
    return asked(request, workflow.revision)


def tag(number: int) -> str:
    """Return the ETag for a draft's revision or a row's version."""
    return f'"{number}"'


def asked(request: Request, present: int) -> int | None:
    """Return the number that If-Match requires; None if the header is missing or `*`.

    If one of several tags is the current number (`present`), returns that number, and otherwise the
    first tag's number. Tags in an unknown form match no number.
    """
    given = request.headers.get("If-Match")
    if given is None or given.strip() == "*":
        return None
    numbers = [int(number) for number in _TAG.findall(given)]
    if present in numbers:
        return present
    return numbers[0] if numbers else NEVER


def unless_known(request: Request, told: Any, *, fresh: int) -> Response:
    """Return the response with `told`, content that changes only with a release.

    Clients can cache the response for `fresh` seconds. After that, they get a 304 if the ETag, a
    digest of the content, is unchanged.
    """
    digest = f'"{payloads.digest(JsonRenderer().render(told).decode())[:32]}"'
    headers = {"ETag": digest, "Cache-Control": f"private, max-age={fresh}"}
    # A server that compresses responses marks the tag as weak.
    known = [
        one.removeprefix("W/") for one in parse_etags(request.headers.get("If-None-Match", ""))
    ]
    if digest in known or "*" in known:
        return Response(status=304, headers=headers)
    return Response(told, headers=headers)
