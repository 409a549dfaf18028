"""Where Stripe's API is: its own address, unless an administrator names another."""

import os
from urllib.parse import urlsplit

from runners.public.modules import StepError

API_BASE = "VALKYR_STRIPE_API_BASE"
STRIPE = "https://api.stripe.com"


def api_base() -> str:
    """The address without a slash at its end; raises StepError for a setting that is none."""
    base = os.environ.get(API_BASE, "").rstrip("/") or STRIPE
    if not _is_address(base):
        raise StepError(
            f"{API_BASE} holds {base[:200]!r}, which is no address such as {STRIPE}: an "
            "administrator mends or unsets it"
        )
    return base


def circuit() -> str | None:
    """What breakers of Stripe's steps count by, such as `stripe:api.stripe.com`."""
    try:
        return f"stripe:{urlsplit(api_base()).netloc}"
    except StepError:
        return None  # the step itself says what is wrong


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
