"""The numbers of this app."""

from executions import environment as env


def retention_days() -> float:
    """How long a resolved dead letter is kept (VALKYR_DLQ_RETENTION_DAYS); open ones stay."""
    return env.number("VALKYR_DLQ_RETENTION_DAYS", 30)


def sentry_template() -> str:
    """A search for an execution in Sentry, with `{execution_id}` (VALKYR_SENTRY_URL)."""
    return env.text("VALKYR_SENTRY_URL")
