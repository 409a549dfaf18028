"""What one attempt at reading pages leaves to the next: where it was and what it had.

It travels as the details of the heartbeat, which hold little and lose secrets that occur in them.
So it carries a seal: a bookmark that came back changed, or of another step, is none.
"""

from dataclasses import dataclass
from typing import Any

from executions.public.errors import PayloadError
from executions.public.values import payloads
from runners.public.modules import StepContext
from valkyr_plugins.connectors.network.positions import Position

MAX_BYTES = 48 * 1024


@dataclass(frozen=True, slots=True)
class Bookmark:
    """`position` is the next page's, None after the last; the rest was read before it."""

    position: Position | None
    pages: int
    size: int
    items: list[Any]


def keep(ctx: StepContext, mark: Bookmark) -> None:
    """Leave it, where it is small enough; else the last one that was stays."""
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


def kept(ctx: StepContext) -> Bookmark | None:
    """What the attempt before left, or None."""
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
    """Raises PayloadError for what is too large."""
    # The key follows from the step and its inputs: other inputs, another bookmark.
    return payloads.digest(f"{ctx.idempotency_key}{payloads.dump(held, 'bookmark', MAX_BYTES)}")
