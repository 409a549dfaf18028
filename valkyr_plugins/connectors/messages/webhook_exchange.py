"""Sign and post a webhook, and evaluate the receiver's response."""

import base64
import binascii
import hashlib
import hmac
import time
from typing import Any

from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.messages.webhook import WebhookPostInputs
from valkyr_plugins.connectors.network.exchange import Call, opened
from valkyr_plugins.connectors.network.request_parts import json_content
from valkyr_plugins.connectors.network.response import SHOWN_BODY_BYTES, read_start, request_name

# Sign webhooks as in Standard Webhooks 1.0. Pure.

PREFIX = "whsec_"
SHORTEST_KEY = 16  # in bytes


def keys(secret: str) -> list[bytes]:
    """Return the keys of a secret: one for each `whsec_…` part, or one for a plain-text secret.

    Spaces separate the parts. Raises StepError for invalid Base64, or a key of less than 16 bytes.
    """
    return [_key(part) for part in (secret.split() if secret.startswith(PREFIX) else [secret])]


def signatures(keys: list[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the header's value: a signature for each key, separated by spaces."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{_base64(hmac.digest(key, signed, hashlib.sha256))}" for key in keys)


def _key(text: str) -> bytes:
    key = text.encode()
    if text.startswith(PREFIX):
        try:
            key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
        except (binascii.Error, ValueError):
            raise StepError(
                f"the credential's secret is not Base64 after {PREFIX}: enter it exactly as you "
                f"received it, or without {PREFIX} as plain text"
            ) from None
    if len(key) < SHORTEST_KEY:
        raise StepError(
            f"the credential's secret is a key of {len(key)} bytes: expected {SHORTEST_KEY} or more"
        )
    return key


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def webhook_exchange(inputs: WebhookPostInputs, ctx: StepContext) -> dict[str, Any]:
    """Post the payload and return `WebhookPostOutputs` as a mapping. Raises StepError."""
    started = time.monotonic()
    content = json_content(inputs.payload)
    headers = _headers(content["content"], ctx)
    call = Call(
        "POST",
        inputs.url,
        headers={"content-type": "application/json", **inputs.headers, **headers},
        content=content,
        timeout_seconds=inputs.timeout_seconds,
        follow_redirects=False,
        signs_in=False,
        keyed=False,
    )
    with opened(call, ctx) as response:
        if not 200 <= response.status_code < 300:
            raise StepError(
                f"{request_name(response.request)} answered {response.status_code}: Valkyr does "
                "not follow redirects. Enter the receiver's current address"
            )
        # Read only the start, because the receiver's response does not matter.
        answer = read_start(response, SHOWN_BODY_BYTES).decode("utf-8", "replace")
    return {
        "id": ctx.idempotency_key,
        "status": response.status_code,
        "signed": "webhook-signature" in headers,
        "answer": answer.replace("\x00", "\N{REPLACEMENT CHARACTER}"),
        "durationMs": round((time.monotonic() - started) * 1000, 1),
    }


def _headers(body: bytes, ctx: StepContext) -> dict[str, str]:
    timestamp = int(time.time())
    headers = {"webhook-id": ctx.idempotency_key, "webhook-timestamp": str(timestamp)}
    if ctx.credential is not None:
        found = keys(ctx.credential.get("secret", ""))
        headers["webhook-signature"] = signatures(found, ctx.idempotency_key, timestamp, body)
    return headers
