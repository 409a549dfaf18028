"""The numbers of this app."""

from valkyr_project import environment as env


def retention_days() -> float:
    """How long a resolved dead letter is kept (VALKYR_DLQ_RETENTION_DAYS); open ones stay."""
    return env.number("VALKYR_DLQ_RETENTION_DAYS", 30)


def trace_template() -> str:
    """The address of a trace, with `{trace_id}` in it (VALKYR_TRACE_URL); empty for none."""
    return env.text("VALKYR_TRACE_URL")


def sentry_template() -> str:
    """A search for an execution in Sentry, with `{execution_id}` (VALKYR_SENTRY_URL)."""
    return env.text("VALKYR_SENTRY_URL")
