"""Turns the pages of an API: asks for one after another until the last, a limit or a circle."""

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.network import bookmark
from valkyr_plugins.connectors.network.bookmark import Bookmark
from valkyr_plugins.connectors.network.exchange import Answer, send
from valkyr_plugins.connectors.network.expressions import select
from valkyr_plugins.connectors.network.failures import TooLong
from valkyr_plugins.connectors.network.page_request import call_for
from valkyr_plugins.connectors.network.paginate import HttpPaginateInputs
from valkyr_plugins.connectors.network.positions import Position, first_position, following

KINDS = {
    dict: "an object",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


@dataclass
class Reading:
    """How far it got: `position` is the next page's, None once there is none."""

    position: Position | None
    pages: int = 0
    size: int = 0  # bytes of all bodies
    items: list[Any] = field(default_factory=list)
    seen: set[Position] = field(default_factory=set)
    last_body: bytes = b""


def all_pages(inputs: HttpPaginateInputs, ctx: StepContext) -> dict[str, Any]:
    """Read page after page and yield `HttpPaginateOutputs` as a mapping; raises StepError."""
    started = time.monotonic()
    reading = _begun(inputs, ctx)
    while reading.position is not None and not _at_limit(reading, inputs):
        if ctx.cancelled():
            raise StepError("the execution was cancelled between two pages")
        if not _turn(reading, reading.position, inputs, ctx):
            break
        bookmark.keep(ctx, Bookmark(reading.position, reading.pages, reading.size, reading.items))
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
    """Where the attempt before stopped, or the beginning."""
    kept = bookmark.kept(ctx)
    if kept is None:
        return Reading(first_position(inputs))
    ctx.log.info("going on where the attempt before stopped", pages=kept.pages)
    return Reading(kept.position, kept.pages, kept.size, kept.items)


def _turn(
    reading: Reading, position: Position, inputs: HttpPaginateInputs, ctx: StepContext
) -> bool:
    """Read the page there; False where it does not fit into `maxBytes` any more."""
    if position in reading.seen:
        raise StepError(
            f"the page at {inputs.strategy} {_short(position)} was read already: the pages go in "
            "a circle, so next or strategy does not fit this API"
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
    """The page, or None where it would go past `maxBytes` although others fitted."""
    left = inputs.max_bytes - reading.size
    if left <= 0:
        return None
    try:
        return send(call_for(inputs, position, left), ctx)
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
            f"page {number} is no JSON that can be stored: {answer.name} answered with {kind}"
        )
    counted = inputs.strategy in ("page", "offset")
    if counted and body and answer.body == reading.last_body:
        raise StepError(
            f"page {number} is the same answer as the page before: does {answer.name} take the "
            f"{inputs.parameter_in} parameter {inputs.carrier!r}?"
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
        return f"there are more than {inputs.max_pages} pages: raise maxPages or ask for less"
    if len(reading.items) >= inputs.max_items:
        return f"there are more than {inputs.max_items} items: raise maxItems or ask for less"
    return f"the pages hold more than {inputs.max_bytes} bytes together: raise maxBytes"


def _short(position: Position) -> str:
    """Enough to find it by; a whole cursor may be a credential of its own."""
    text = str(position.value)
    if len(text) <= 12:
        return repr(text)
    return f"…{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]} (its SHA-256)"
