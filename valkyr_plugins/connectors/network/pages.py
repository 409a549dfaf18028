"""Read the pages of an API in order, until the last page, a limit or a cycle.

The next page comes from a Link header, from a URL or cursor in the body, or from counting.
"""

import copy
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from executions.public.errors import PayloadError
from executions.public.values import payloads
from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.network.exchange import (
    HARMLESS_HEADERS,
    Answer,
    Call,
    body_stays,
    origin,
    send,
)
from valkyr_plugins.connectors.network.paginate import HttpPaginateInputs, select
from valkyr_plugins.connectors.network.request_parts import MAX_URL, json_content
from valkyr_plugins.connectors.network.response import TooLong


@dataclass(frozen=True, slots=True)
class Position:
    """The URL, cursor, number or offset of a page; None means the URL of the inputs."""

    value: str | int | None


def first_position(inputs: HttpPaginateInputs) -> Position:
    """Return the first page's position: `start`, or by default page 1, offset 0 or None."""
    if inputs.start is None and inputs.strategy in ("page", "offset"):
        return Position(1 if inputs.strategy == "page" else 0)
    return Position(inputs.start if inputs.start != "" else None)


def following(
    position: Position, answer: Answer, body: Any, items: int, inputs: HttpPaginateInputs
) -> Position | None:
    """Return the position after this page; None after the last page. Raises StepError."""
    if inputs.more is not None and not select(inputs.more, body, "more", None):
        return None
    match inputs.strategy:
        case "link":
            return _url(answer, answer.response.links.get("next", {}).get("url"))
        case "next":
            return _url(answer, select(inputs.next or "", body, "next"))
        case "cursor":
            return _cursor(select(inputs.next or "", body, "next"), inputs)
    if items == 0 or (inputs.page_size is not None and items < inputs.page_size):
        return None
    step = 1 if inputs.strategy == "page" else inputs.page_size or items
    return Position(int(position.value or 0) + step)


def _url(answer: Answer, found: Any) -> Position | None:
    if found is None or found in ("", False):
        return None
    if not isinstance(found, str) or len(found) > MAX_URL:
        raise StepError(
            f"the next page of {answer.name} is at a {type(found).__name__}, expected a URL of at "
            f"most {MAX_URL} characters"
        )
    try:
        url = answer.response.url.join(found)
    except httpx.InvalidURL as error:
        raise StepError(f"the next page of {answer.name} is at no URL: {error}") from error
    # A server never receives the part after #, so URLs that differ only there are the same page.
    return Position(str(url.copy_with(fragment=None)))


def _cursor(found: Any, inputs: HttpPaginateInputs) -> Position | None:
    if found is None or found in ("", False):
        return None
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise StepError(
            f"next {inputs.next!r} selects a {type(found).__name__}, expected a text or a number"
        )
    return Position(found)


# Make the request for one page.


INSTEAD = "end the pages before that with more or maxPages"


def call_for(
    inputs: HttpPaginateInputs, position: Position, max_bytes: int, *, guarded: bool
) -> Call:
    """Return the request for the page at a position. Raises StepError.

    A page of another origin is requested without headers that may be credentials. With `guarded`
    (the step uses secrets), it can be requested only by GET, which sends no body. Requests have no
    Idempotency-Key: with the same key, a server would return the first page again.
    """
    url, query, body = inputs.url, dict(inputs.query), inputs.json_body
    elsewhere = False
    if inputs.strategy in ("link", "next") and isinstance(position.value, str):
        url, query = position.value, {}
        elsewhere = _origin(url) != _origin(inputs.url)
        if elsewhere and guarded and inputs.method == "POST":
            raise body_stays(f"strategy {inputs.strategy} leads", httpx.URL(url), INSTEAD)
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
    """Return a copy of `body` with the value at `a.b.c`; add missing objects. Raises StepError."""
    changed = copy.deepcopy(body)
    *way, last = path.split(".")
    place = changed
    for name in way:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise StepError(
                f"parameter {path!r} leads through {name!r} of json, which is not an object"
            )
    place[last] = value
    return changed


# The progress that one attempt at reading pages leaves for the next attempt.
#
# It is stored in the details of the heartbeat, which are small and from which secrets are removed.
# So it has a seal, which makes a changed bookmark or another step's bookmark invalid.


MAX_BYTES = 48 * 1024


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A point to resume from; `position` is that of the next page, None after the last.

    The other fields describe the pages that were already read.
    """

    position: Position | None
    pages: int
    size: int
    items: list[Any]


def keep_bookmark(ctx: StepContext, mark: Bookmark) -> None:
    """Store a bookmark if it is small enough; otherwise keep the previous one."""
    last = mark.position is None
    held = {
        "next": None if mark.position is None else mark.position.value,
        "last": last,
        "pages": mark.pages,
        "size": mark.size,
        "items": mark.items,
    }
    try:
        ctx.heartbeat({**held, "seal": _seal(held, ctx)})
    except PayloadError:
        ctx.heartbeat()


def kept_bookmark(ctx: StepContext) -> Bookmark | None:
    """Return the bookmark of the previous attempt; None if there is none for these inputs."""
    found = ctx.last_details
    if not isinstance(found, dict) or "seal" not in found:
        return None
    held = {name: value for name, value in found.items() if name != "seal"}
    try:
        if _seal(held, ctx) != found["seal"]:
            return None
    except PayloadError:
        return None
    position = None if held["last"] else Position(held["next"])
    return Bookmark(position, held["pages"], held["size"], held["items"])


def _seal(held: dict[str, Any], ctx: StepContext) -> str:
    """Return a digest that ties a bookmark to a step. Raises PayloadError for a large bookmark."""
    # The key depends on the step and its inputs, so a bookmark for other inputs is invalid.
    return payloads.digest(f"{ctx.idempotency_key}{payloads.dump(held, 'bookmark', MAX_BYTES)}")


# Read the pages of an API in order until the last page, a limit or a cycle.


KINDS = {
    dict: "an object",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


@dataclass
class Reading:
    """The step's progress; `position` is that of the next page, None after the last page."""

    position: Position | None
    pages: int = 0
    size: int = 0  # total size of all bodies, in bytes
    items: list[Any] = field(default_factory=list)
    seen: set[Position] = field(default_factory=set)
    last_body: bytes = b""


def all_pages(inputs: HttpPaginateInputs, ctx: StepContext) -> dict[str, Any]:
    """Read page after page and return `HttpPaginateOutputs` as a mapping. Raises StepError."""
    started = time.monotonic()
    reading = _begun(inputs, ctx)
    while reading.position is not None and not _at_limit(reading, inputs):
        if ctx.cancelled():
            raise StepError("the execution was cancelled between two pages")
        if not _turn(reading, reading.position, inputs, ctx):
            break
        keep_bookmark(ctx, Bookmark(reading.position, reading.pages, reading.size, reading.items))
    truncated = reading.position is not None
    if truncated and inputs.at_limit == "fail":
        raise StepError(_limit_said(reading, inputs))
    return {
        "items": reading.items,
        "count": len(reading.items),
        "pages": reading.pages,
        "truncated": truncated,
        "next": reading.position.value if reading.position is not None else None,
        "durationMs": round((time.monotonic() - started) * 1000, 1),
    }


def _begun(inputs: HttpPaginateInputs, ctx: StepContext) -> Reading:
    """Return the progress of the previous attempt; without a bookmark, begin at the first page."""
    kept = kept_bookmark(ctx)
    if kept is None:
        return Reading(first_position(inputs))
    ctx.log.info("continuing where the previous attempt stopped", pages=kept.pages)
    return Reading(kept.position, kept.pages, kept.size, kept.items)


def _turn(
    reading: Reading, position: Position, inputs: HttpPaginateInputs, ctx: StepContext
) -> bool:
    """Read the next page; return False if `maxBytes` ends the reading. Raises StepError."""
    if position in reading.seen:
        raise StepError(
            f"the page at {inputs.strategy} {_short(position)} was already read: the pages "
            "form a cycle, so next or strategy does not fit this API"
        )
    reading.seen.add(position)
    answer = _page(reading, position, inputs, ctx)
    if answer is None:
        return False
    _take(reading, position, answer, inputs)
    return True


def _page(
    reading: Reading, position: Position, inputs: HttpPaginateInputs, ctx: StepContext
) -> Answer | None:
    """Return the page; None if `maxBytes` is reached after other pages. Raises StepError."""
    left = inputs.max_bytes - reading.size
    if left <= 0:
        return None
    try:
        return send(call_for(inputs, position, left, guarded=ctx.uses_secrets), ctx)
    except TooLong:
        if reading.pages:
            return None
        raise
    except StepError as error:
        raise StepError(
            f"page {reading.pages + 1}: {error.message}",
            error.error_type,
            retry_after=error.retry_after,
            details=error.details,
        ) from (error.__cause__ or error)


def _take(reading: Reading, position: Position, answer: Answer, inputs: HttpPaginateInputs) -> None:
    number = reading.pages + 1
    body, encoding = answer.parsed
    if encoding not in ("json", "none"):
        kind = answer.headers.get("content-type", "no type")[:100]
        raise StepError(
            f"page {number} is not JSON that can be stored: {answer.name} responded with {kind}"
        )
    counted = inputs.strategy in ("page", "offset")
    if counted and body and answer.body == reading.last_body:
        raise StepError(
            f"page {number} is the same as the previous page: check that {answer.name} "
            f"accepts the {inputs.parameter_in} parameter {inputs.carrier!r}"
        )
    items = _items(body, inputs, number)
    reading.position = following(position, answer, body, len(items), inputs)
    reading.pages = number
    reading.size += len(answer.body)
    reading.items += items
    reading.last_body = answer.body if counted else b""


def _items(body: Any, inputs: HttpPaginateInputs, number: int) -> list[Any]:
    items = select(inputs.items, body, "items")
    if isinstance(items, list):
        return items
    if items is None and (number > 1 or body is None):
        return []
    kind = "null" if items is None else KINDS.get(type(items), "a number")
    raise StepError(f"items {inputs.items!r} selects {kind} of page {number}, expected a list")


def _at_limit(reading: Reading, inputs: HttpPaginateInputs) -> bool:
    return reading.pages >= inputs.max_pages or len(reading.items) >= inputs.max_items


def _limit_said(reading: Reading, inputs: HttpPaginateInputs) -> str:
    if reading.pages >= inputs.max_pages:
        return f"there are more than {inputs.max_pages} pages: raise maxPages or request less"
    if len(reading.items) >= inputs.max_items:
        return f"there are more than {inputs.max_items} items: raise maxItems or request less"
    return f"the pages have more than {inputs.max_bytes} bytes together: raise maxBytes"


def _short(position: Position) -> str:
    """Return a short text for a position; a long one is hashed, because it may be a credential."""
    text = str(position.value)
    if len(text) <= 12:
        return repr(text)
    return f"…{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]} (its SHA-256)"
