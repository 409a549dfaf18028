"""What Stripe's errors mean for a step: may it be tried again, and what people are told.

Only codes, ids and Stripe's own sentence are passed on; card data never is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import stripe

from runners.public.modules import ErrorType, StepError, parse_retry_after, status_error_type

TRANSIENT, PERMANENT = ErrorType.TRANSIENT, ErrorType.PERMANENT
LONGEST = 500
# Another request with the same key is under way, or Stripe holds a lock on the object.
PASSING_CODES = frozenset({"idempotency_key_in_use", "lock_timeout", "rate_limit"})


class Declined(StepError):
    """The card or its bank said no; `details` holds the codes and the payment intent."""


@contextmanager
def told() -> Iterator[None]:
    """Raise Stripe's errors as StepError, a declined card as Declined."""
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
        # Stripe quotes the key, in part.
        return f"Stripe refused the key{status}: check the credential's api_key"
    if isinstance(error, stripe.PermissionError):
        return f"the key may not do this{status}: a restricted key needs the permission"
    if isinstance(error, stripe.IdempotencyError):
        return (
            "Stripe knows this step's idempotency key from a request with other parameters, "
            "perhaps of an earlier release or another credential: look in Stripe's dashboard "
            f"whether it went through, then requeue the step. It says: {said}"
        )
    return f"Stripe answered{status}: {said}"


def _class(error: stripe.StripeError) -> ErrorType:
    passing = isinstance(error, stripe.RateLimitError | stripe.APIConnectionError)
    if passing or error.code in PASSING_CODES or error.http_status == 409:
        return TRANSIENT
    # An answer that could not be read may yet have worked: its key makes a repeat harmless.
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
