"""The request for one page."""

import copy
from typing import Any

import httpx

from runners.public.modules import StepError
from valkyr_plugins.connectors.network.content import json_content
from valkyr_plugins.connectors.network.exchange import Call
from valkyr_plugins.connectors.network.hops import HARMLESS_HEADERS, origin
from valkyr_plugins.connectors.network.paginate import HttpPaginateInputs
from valkyr_plugins.connectors.network.positions import Position


def call_for(inputs: HttpPaginateInputs, position: Position, max_bytes: int) -> Call:
    """What to send for the page at that place.

    A page of another origin is asked for without headers that may be credentials. No page carries
    an Idempotency-Key: one key for all pages would bring the first page again.
    """
    url, query, body = inputs.url, dict(inputs.query), inputs.json_body
    elsewhere = False
    if inputs.strategy in ("link", "next") and isinstance(position.value, str):
        url, query = position.value, {}
        elsewhere = _origin(url) != _origin(inputs.url)
    elif position.value is not None and inputs.parameter_in == "query":
        query[inputs.carrier] = position.value
    elif position.value is not None:
        body = _with(body, inputs.carrier, position.value)
    headers = {"accept": "application/json", **inputs.headers}
    if elsewhere:
        headers = {name: text for name, text in headers.items() if name.lower() in HARMLESS_HEADERS}
    if inputs.method == "POST":
        headers.setdefault("content-type", "application/json")
    return Call(
        inputs.method,
        url,
        headers=headers,
        query=query,
        content=json_content(body) if inputs.method == "POST" else {},
        timeout_seconds=inputs.timeout_seconds,
        max_bytes=max_bytes,
        signs_in=not elsewhere,
        keyed=False,
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        return origin(httpx.URL(url))
    except httpx.InvalidURL as error:
        raise StepError(f"url is not a URL: {error}") from error


def _with(body: Any, path: str, value: str | int) -> Any:
    """A copy of the object with a value at `a.b.c`; objects on the way are made."""
    changed = copy.deepcopy(body)
    *way, last = path.split(".")
    place = changed
    for name in way:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise StepError(f"parameter {path!r} leads over {name!r} of json, which is no object")
    place[last] = value
    return changed
