"""Where the next page of an API is: by a Link header, a URL or cursor in the body, or counting."""

from dataclasses import dataclass
from typing import Any

import httpx

from runners.public.modules import StepError
from valkyr_plugins.connectors.network.addressed import MAX_URL
from valkyr_plugins.connectors.network.exchange import Answer
from valkyr_plugins.connectors.network.expressions import select
from valkyr_plugins.connectors.network.paginate import HttpPaginateInputs


@dataclass(frozen=True, slots=True)
class Position:
    """A page's place: its URL, cursor, number or offset; None is what the inputs' URL gives."""

    value: str | int | None


def first_position(inputs: HttpPaginateInputs) -> Position:
    """Where to begin."""
    if inputs.start is None and inputs.strategy in ("page", "offset"):
        return Position(1 if inputs.strategy == "page" else 0)
    return Position(inputs.start if inputs.start != "" else None)


def following(
    position: Position, answer: Answer, body: Any, items: int, inputs: HttpPaginateInputs
) -> Position | None:
    """The next page's place after a page of so many items, or None after the last."""
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
    # The part after # never reaches a server, so it is no page of its own.
    return Position(str(url.copy_with(fragment=None)))


def _cursor(found: Any, inputs: HttpPaginateInputs) -> Position | None:
    if found is None or found in ("", False):
        return None
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise StepError(
            f"next {inputs.next!r} selects a {type(found).__name__}, expected a text or a number"
        )
    return Position(found)
