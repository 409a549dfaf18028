"""The Celery tasks of this app; they contain no logic, but call other modules."""

from uuid import UUID

from django.db import InterfaceError, OperationalError

from executions import quotas
from executions.accounts import browser_sessions, sessions
from executions.admission import rates
from executions.audit import seals
from executions.jobs import worker
from executions.messaging import task
from executions.triggers import cron, retention, webhook


@task(
    "executions.fire_cron",
    autoretry_for=(OperationalError, InterfaceError),
    retry_backoff=True,
    retry_backoff_max=10,
    max_retries=8,
)
def fire_cron(trigger_id: str) -> None:
    """Start the workflow for the due times of a schedule."""
    cron.fire(UUID(trigger_id))


@task("executions.run_job")
def run_job(job_id: str) -> None:
    """Run a job that a request created, and store its result."""
    worker.run(UUID(job_id))


@task("executions.start_ticks")
def start_ticks() -> dict[str, int]:
    """Apply beat's changes, record fire times and start due ticks every 5 s; return the counts."""
    return cron.tend()


@task("executions.prune_signatures")
def prune_signatures() -> int:
    """Delete webhook signatures too old to be accepted, every minute; return their number."""
    return webhook.prune()


@task("executions.prune_counts")
def prune_counts() -> int:
    """Delete old counters of sign-ins and quota windows every hour; return their number."""
    return quotas.prune() + rates.prune()


@task("executions.prune_answers")
def prune_answers() -> int:
    """Delete `Idempotency-Key` responses older than a day, every minute; return their number."""
    return retention.prune()


@task("executions.seal_audit")
def seal_audit() -> int:
    """Seal new rows of the audit trail every 30 s; return the number of rows."""
    return seals.seal().rows


@task("executions.prune_sessions")
def prune_sessions() -> int:
    """Delete expired sessions every hour; return their number."""
    return sessions.prune()


@task("executions.clear_browser_sessions")
def clear_browser_sessions() -> int:
    """Delete Django's expired sessions every hour; return their number."""
    return browser_sessions.clear()


@task("executions.expire_told")
def expire_told() -> dict[str, int]:
    """Delete old delivered events and resolved refused messages hourly; return the numbers."""
    return retention.expire()
