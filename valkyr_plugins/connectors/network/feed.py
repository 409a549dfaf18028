"""Fetch a feed with the guarded client, and parse it with feedparser, which fetches nothing."""

from calendar import timegm
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import feedparser

from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.network.exchange import Answer, Call, send
from valkyr_plugins.connectors.network.rss import RssReadInputs

ACCEPT = (
    "application/atom+xml, application/rss+xml, application/rdf+xml;q=0.9, application/xml;q=0.8, "
    "text/xml;q=0.8, */*;q=0.1"
)
NOT_MODIFIED = 304


def read_feed(inputs: RssReadInputs, ctx: StepContext) -> dict[str, Any]:
    """Read the feed and return `RssReadOutputs` as a mapping. Raises StepError."""
    answer = send(_call(inputs), ctx)
    known = {
        "etag": answer.headers.get("etag") or None,
        "modified": answer.headers.get("last-modified") or None,
        "url": answer.url,
    }
    if answer.status == NOT_MODIFIED:
        known["etag"] = known["etag"] or inputs.etag
        known["modified"] = known["modified"] or inputs.modified
        nothing: dict[str, Any] = {"feed": None, "entries": [], "count": 0, "total": 0}
        return {"changed": False, "damaged": False, **nothing, **known}
    found = _parsed(answer)
    entries = [_entry(entry) for entry in found.entries[: inputs.limit]]
    return {
        "changed": True,
        "damaged": bool(found.bozo),
        "feed": _feed(found.feed),
        "entries": entries,
        "count": len(entries),
        "total": len(found.entries),
        **known,
    }


def _call(inputs: RssReadInputs) -> Call:
    headers = {"accept": ACCEPT, **inputs.headers}
    if inputs.etag is not None:
        headers["if-none-match"] = inputs.etag
    if inputs.modified is not None:
        headers["if-modified-since"] = inputs.modified
    return Call(
        "GET",
        inputs.url,
        headers=headers,
        timeout_seconds=inputs.timeout_seconds,
        max_bytes=inputs.max_bytes,
    )


def _parsed(answer: Answer) -> Any:
    told = {"content-location": answer.url}
    if kind := answer.headers.get("content-type"):
        told["content-type"] = kind
    # Passed as a file, because feedparser would open a text that is a URL or a path.
    found = feedparser.parse(BytesIO(answer.body), response_headers=told)
    if not found.get("version") and not found.entries:
        raise StepError(
            f"the response of {answer.name} is not a feed, but {kind or 'of no type'}: "
            "expected RSS, Atom or RDF"
        )
    return found


def _feed(feed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": _text(feed.get("title")),
        "link": _text(feed.get("link")),
        "description": _text(feed.get("subtitle")),
        "language": _text(feed.get("language")),
        "updated": _instant(feed, "updated") or _instant(feed, "published"),
    }


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    content = entry.get("content") or [{}]
    return {
        "id": _text(entry.get("id") or entry.get("link")),
        "title": _text(entry.get("title")),
        "link": _text(entry.get("link")),
        "author": _text(entry.get("author")),
        "summary": _text(entry.get("summary")),
        "content": _text(content[0].get("value")),
        "published": _instant(entry, "published"),
        "updated": _instant(entry, "updated"),
        "categories": [_text(tag.get("term")) for tag in entry.get("tags") or []],
        "enclosures": [
            {
                "url": _text(found.get("href")),
                "type": _text(found.get("type")),
                "length": _text(found.get("length")),
            }
            for found in entry.get("enclosures") or []
        ],
    }


def _text(value: Any) -> str:
    """Return a value as text, with replacements for characters that PostgreSQL cannot store."""
    text = str(value or "").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode("utf-8")


def _instant(found: Mapping[str, Any], name: str) -> str | None:
    """Return a time in ISO 8601, in UTC; None if it is missing or cannot be read."""
    # If this time is missing, feedparser's `get` returns another time and warns.
    if f"{name}_parsed" not in found or (parts := found[f"{name}_parsed"]) is None:
        return None
    try:
        return datetime.fromtimestamp(timegm(parts), UTC).isoformat()
    except (ValueError, OverflowError, OSError, TypeError):
        return None
