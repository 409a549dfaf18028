"""The configuration of the app `dlq`."""

from datetime import datetime, timedelta

from executions.configuration import settings as valkyr_settings


def retention_days() -> float:
    """Return how many days a resolved dead letter is kept (VALKYR_DLQ_RETENTION_DAYS).

    Open dead letters are kept. With 0, resolved ones are kept forever.
    """
    return valkyr_settings().dlq_retention_days


def expiry(resolved_at: datetime) -> datetime | None:
    """Return when a dead letter that is resolved at this time expires; None if it is kept."""
    days = retention_days()
    return resolved_at + timedelta(days=days) if days > 0 else None


def sentry_template() -> str:
    """Return the URL template of a Sentry search, with `{execution_id}` (VALKYR_SENTRY_URL)."""
    return valkyr_settings().sentry_url
