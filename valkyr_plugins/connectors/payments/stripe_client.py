"""Stripe's own client over guarded connections, and the conversion of its errors.

Each request is sent once and times out just before the step's deadline. A response may have at
most 5 MiB. The library builds the requests and parses the errors; the engine retries.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx
import stripe

from runners.public.modules import (
    ErrorType,
    StepContext,
    StepError,
    error_type_of,
    parse_retry_after,
    status_error_type,
)
from valkyr_plugins.connectors.network.response import ACCEPT_ENCODING, ResponseTooLarge, read_body
from valkyr_plugins.connectors.network.transport import client, request_deadline
from valkyr_plugins.connectors.payments.stripe_module import api_base

MAX_ANSWER_BYTES = 5 * 1024 * 1024
ENDLESS = "the response of Stripe's API has more than 5 MiB, which Stripe never sends"


class GuardedClient(stripe.HTTPClient):
    """An HTTP client for Stripe's library; its transport checks addresses and deadlines."""

    name = "valkyr"

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        post_data: Any = None,
        **unused: Any,
    ) -> tuple[str, int, Mapping[str, str]]:
        """Send a request; return the body as text, the status and the headers. Raises StepError."""
        try:
            request = client().build_request(
                method.upper(), url, headers=dict(headers or {}), content=post_data or None
            )
            request.headers["accept-encoding"] = ACCEPT_ENCODING
            response = client().send(request, stream=True)
            try:
                body = read_body(response, MAX_ANSWER_BYTES)
            finally:
                response.close()
        except ResponseTooLarge:
            raise StepError(ENDLESS) from None
        except httpx.HTTPError as error:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            raise StepError(f"{urlsplit(url).netloc}: {said}", error_type_of(error)) from error
        # httpx's headers ignore upper and lower case, as the library expects.
        return body.decode("utf-8", "replace"), response.status_code, response.headers

    def request_stream(self, *arguments: Any, **named: Any) -> NoReturn:
        """Raise NotImplementedError: none of the operations used here streams."""
        raise NotImplementedError("Stripe's responses are not streamed here")

    def close(self) -> None:
        """Do nothing: the connections belong to the process, not to one step."""


def connect(ctx: StepContext) -> stripe.StripeClient:
    """Return a client for the step's key; its requests time out just before the step's deadline.

    Raises StepError if the credential is missing or invalid.
    """
    remaining = ctx.remaining()
    request_deadline.set(time.monotonic() + remaining - min(0.2, remaining * 0.05))
    return stripe.StripeClient(
        _key(ctx.credential),
        base_addresses={"api": api_base()},
        max_network_retries=0,
        http_client=_http(os.getpid()),
    )


@lru_cache(maxsize=1)
def _http(pid: int) -> GuardedClient:
    return GuardedClient()


def _key(credential: Mapping[str, str] | None) -> str:
    if credential is None:
        raise StepError(
            "this step has no credential: create one of type stripe (api_key), and name it in "
            "the step's `credential`"
        )
    key = credential.get("api_key", "")
    if not (key.isascii() and key.isprintable() and " " not in key and key):
        raise StepError(
            "the credential's api_key is not a single printable word: expected a key such as "
            "sk_live_… or rk_live_…"
        )
    return key


# Convert Stripe's errors: whether to retry, and the message for users.
#
# Only codes, IDs and Stripe's own sentence are included, never card data.


TRANSIENT, PERMANENT = ErrorType.TRANSIENT, ErrorType.PERMANENT
LONGEST = 500
# Another request with the same key is in progress, or Stripe holds a lock on the object.
PASSING_CODES = frozenset({"idempotency_key_in_use", "lock_timeout", "rate_limit"})


class Declined(StepError):
    """The card was declined; `details` contains the codes and the ID of the payment intent."""


@contextmanager
def told() -> Iterator[None]:
    """Convert Stripe's errors in the block to StepError, and a declined card to Declined."""
    try:
        yield
    except stripe.CardError as error:
        raise _declined(error) from None
    except stripe.StripeError as error:
        raise StepError(
            _sentence(error),
            _class(error),
            retry_after=_retry_after(error),
            details=_details(error),
        ) from None


def _declined(error: stripe.CardError) -> Declined:
    reason = _field(error, "decline_code") or error.code or "no reason given"
    said = str(error.user_message or "")[:LONGEST]
    return Declined(f"the card was declined ({reason}): {said}", PERMANENT, details=_details(error))


def _sentence(error: stripe.StripeError) -> str:
    said = str(error.user_message or "no message")[:LONGEST]
    status = f" with {error.http_status}" if error.http_status else ""
    if isinstance(error, stripe.AuthenticationError):
        # Omit Stripe's message, because it quotes a part of the key.
        return f"Stripe rejected the key{status}: check the credential's api_key"
    if isinstance(error, stripe.PermissionError):
        return (
            f"the key does not allow this operation{status}: a restricted key needs the permission"
        )
    if isinstance(error, stripe.IdempotencyError):
        return (
            "Stripe received this step's idempotency key with other parameters before, "
            "perhaps from an earlier release or with another credential: check in Stripe's "
            "dashboard whether that request succeeded, then requeue the step. Stripe's "
            f"message: {said}"
        )
    return f"Stripe responded{status}: {said}"


def _class(error: stripe.StripeError) -> ErrorType:
    passing = isinstance(error, stripe.RateLimitError | stripe.APIConnectionError)
    if passing or error.code in PASSING_CODES or error.http_status == 409:
        return TRANSIENT
    # A request whose response could not be read may have succeeded. Its key makes a retry harmless.
    status = error.http_status or 0
    return TRANSIENT if status < 400 else status_error_type(status)


def _details(error: stripe.StripeError) -> dict[str, Any]:
    intent = _field(error, "payment_intent")
    found = {
        "code": error.code or None,
        "declineCode": _field(error, "decline_code"),
        "param": getattr(error, "param", None),
        "status": error.http_status,
        "requestId": error.request_id,
        "charge": _field(error, "charge"),
        "paymentIntent": _id_of(intent),
    }
    return {name: value for name, value in found.items() if isinstance(value, str | int)}


def _field(error: stripe.StripeError, name: str) -> Any:
    body = error.json_body
    inner = body.get("error") if isinstance(body, dict) else None
    return inner.get(name) if isinstance(inner, dict) else None


def _id_of(value: Any) -> Any:
    return value.get("id") if isinstance(value, dict) else value


def _retry_after(error: stripe.StripeError) -> float | None:
    value = (error.headers or {}).get("retry-after")
    return parse_retry_after(value, datetime.now(UTC)) if isinstance(value, str) else None
