"""A webhook's signature: `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `<t>.<body>`.

Pure. The time is part of what is signed, so that an old request cannot be passed off as new.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

WINDOW_SECONDS = 300  # how far the sender's clock may be from ours, either way
MAX_HEADER = 1_000

_TIME = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class WebhookSignature:
    """What the header says: when it was signed, in unix seconds, and the signatures in hex."""

    at: int
    values: tuple[str, ...]


def read(header: str) -> WebhookSignature | None:
    """The header, read; None for one that is not of this form."""
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
    """What is signed."""
    return f"{at}.".encode() + body


def sign(secret: str, at: int, body: bytes) -> str:
    """The signature of a body under a secret, in hex."""
    return hmac.new(secret.encode(), signed(at, body), hashlib.sha256).hexdigest()


def fingerprint(signature: WebhookSignature, body: bytes) -> str:
    """A name for what was signed: it comes once, whoever sends it."""
    return hashlib.sha256(signed(signature.at, body)).hexdigest()


def header(secret: str, at: int, body: bytes) -> str:
    """The whole header a sender puts beside its body."""
    return f"t={at},v1={sign(secret, at, body)}"


def is_signed(signature: WebhookSignature, body: bytes, secrets: Iterable[str]) -> bool:
    """Whether one of the signatures was made with one of the secrets; compares in constant time."""
    expected = [sign(secret, signature.at, body) for secret in secrets]
    matches = [hmac.compare_digest(v, e) for v in signature.values for e in expected]
    return any(matches)


def is_fresh(signature: WebhookSignature, now: float) -> bool:
    """Whether it was made within the window around `now`, in unix seconds."""
    return abs(now - signature.at) <= WINDOW_SECONDS
