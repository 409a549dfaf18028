"""The numbers of this app."""

from valkyr_project import environment as env


def retention_days() -> float:
    """How long a resolved dead letter is kept (VALKYR_DLQ_RETENTION_DAYS); open ones stay."""
    return env.number("VALKYR_DLQ_RETENTION_DAYS", 30)
