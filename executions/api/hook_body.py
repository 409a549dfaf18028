"""A webhook's body as a payload: JSON as it is, any other text as `{"body", "contentType"}`."""

from io import BytesIO
from typing import Any

from executions.api.parsing import BodyTooLarge, JsonParser, check_storable, read_text

MAX_BYTES = 1024 * 1024


def check_size(body: bytes) -> None:
    """Raise BodyTooLarge for more than a payload may be."""
    if len(body) > MAX_BYTES:
        raise BodyTooLarge(MAX_BYTES)


def payload_of(body: bytes, content_type: str) -> Any:
    """The payload; an empty body is {}.

    Raises ParseError for what should be JSON and is not, or is no UTF-8 text, and ValidationError
    for text that cannot be stored.
    """
    if not body.strip():
        return {}
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("", "application/json") or kind.endswith("+json"):
        return JsonParser().parse(BytesIO(body))
    payload = {"body": read_text(BytesIO(body), None), "contentType": kind}
    check_storable(payload)
    return payload
