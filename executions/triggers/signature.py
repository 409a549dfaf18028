"""A webhook's signature: `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `<t>.<body>`.

This module does no I/O. The signature includes the time, so that an old request cannot pass as a
new one.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

WINDOW_SECONDS = 300  # maximum difference from the sender's clock, in both directions
MAX_HEADER = 1_000

_TIME = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class WebhookSignature:
    """The header's time of signing, in Unix seconds, and its signatures in hex."""

    at: int
    values: tuple[str, ...]


def read(header: str) -> WebhookSignature | None:
    """Return the parsed header; None if it is invalid."""
    if len(header) > MAX_HEADER:
        return None
    times, values = [], []
    for part in header.split(","):
        name, _, value = part.strip().partition("=")
        if name == "t":
            times.append(value)
        elif name == "v1":
            values.append(value)
    if len(times) != 1 or not values or not _TIME.fullmatch(times[0]):
        return None
    if not all(_SIGNATURE.fullmatch(value) for value in values):
        return None
    return WebhookSignature(int(times[0]), tuple(values))


def signed(at: int, body: bytes) -> bytes:
    """Return the bytes to sign for a body that is signed at the Unix time `at`."""
    return f"{at}.".encode() + body


def sign(secret: str, at: int, body: bytes) -> str:
    """Return the signature of a body, in hex, made with a secret at the Unix time `at`."""
    return hmac.new(secret.encode(), signed(at, body), hashlib.sha256).hexdigest()


def fingerprint(signature: WebhookSignature, body: bytes) -> str:
    """Return an ID of the signed text, which a webhook accepts only once."""
    return hashlib.sha256(signed(signature.at, body)).hexdigest()


def header(secret: str, at: int, body: bytes) -> str:
    """Return the header's value for a body that is signed at the Unix time `at`."""
    return f"t={at},v1={sign(secret, at, body)}"


def is_signed(signature: WebhookSignature, body: bytes, secrets: Iterable[str]) -> bool:
    """Return whether any signature matches any of the secrets, compared in constant time."""
    expected = [sign(secret, signature.at, body) for secret in secrets]
    matches = [hmac.compare_digest(v, e) for v in signature.values for e in expected]
    return any(matches)


def is_fresh(signature: WebhookSignature, now: float) -> bool:
    """Return whether the signature was made at most 300 s before or after `now` (Unix seconds)."""
    return abs(now - signature.at) <= WINDOW_SECONDS
