"""Signatures of webhooks after Standard Webhooks 1.0: pure.

What is signed is `<id>.<timestamp>.<body>`, so that neither an old message nor another's body can
be passed off as this one.
"""

import base64
import binascii
import hashlib
import hmac

from runners.public.modules import StepError

PREFIX = "whsec_"
SHORTEST_KEY = 16  # bytes


def keys(secret: str) -> list[bytes]:
    """The keys of a secret: of each `whsec_…` with spaces between, or of one plain text.

    Raises StepError.
    """
    return [_key(part) for part in (secret.split() if secret.startswith(PREFIX) else [secret])]


def signatures(keys: list[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """The header's value: a signature for each key, with spaces between."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{_base64(hmac.digest(key, signed, hashlib.sha256))}" for key in keys)


def _key(text: str) -> bytes:
    key = text.encode()
    if text.startswith(PREFIX):
        try:
            key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
        except (binascii.Error, ValueError):
            raise StepError(
                f"the credential's secret is not Base64 after {PREFIX}: give it as the receiver "
                f"gave it, or without {PREFIX} as plain text"
            ) from None
    if len(key) < SHORTEST_KEY:
        raise StepError(
            f"the credential's secret is a key of {len(key)} bytes: expected {SHORTEST_KEY} or more"
        )
    return key


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
