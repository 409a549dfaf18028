"""The configuration of the app `dlq`."""

from executions.configuration import settings as valkyr_settings


def retention_days() -> float:
    """Return how many days a resolved dead letter is kept (VALKYR_DLQ_RETENTION_DAYS).

    Open dead letters are kept.
    """
    return valkyr_settings().dlq_retention_days


def sentry_template() -> str:
    """Return the URL template of a Sentry search, with `{execution_id}` (VALKYR_SENTRY_URL)."""
    return valkyr_settings().sentry_url
