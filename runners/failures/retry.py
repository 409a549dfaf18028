"""The delay before the next attempt. The functions are pure; randomness is an argument."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from executions.definition.graph.model import RetryPolicy

MAX_DELAY_SECONDS = 86_400.0
# 2**60 seconds is far above every cap, but still a finite number.
MAX_DOUBLINGS = 60


def delay(
    policy: "RetryPolicy", attempt: int, *, random: float, retry_after: float | None = None
) -> float | None:
    """Return the seconds to wait after attempt number `attempt` (from 1).

    Return None if it was the last attempt. The base doubles with each attempt; the jitter (`random`
    is from 0 to 1) is applied, then the policy's cap. A server's Retry-After applies if it is
    longer. The result is at most one day.
    """
    if attempt >= policy.max_attempts:
        return None
    seconds = policy.base_seconds * 2.0 ** min(attempt - 1, MAX_DOUBLINGS)
    low, high = policy.jitter_add
    seconds += low + (high - low) * random
    seconds *= 1 + policy.jitter_ratio * (2 * random - 1)
    if policy.max_seconds is not None:
        seconds = min(seconds, policy.max_seconds)
    if retry_after is not None and retry_after > seconds:
        seconds = retry_after
    return max(0.0, min(seconds, MAX_DELAY_SECONDS))


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header requests, from now; None if it is unusable.

    Accepts both forms of RFC 9110, section 10.2.3: seconds, or an HTTP date. A time in the past
    gives 0.
    """
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:10])
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # A date without a time zone is in GMT, which the RFC requires for dates of old clients.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (moment - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
