"""What Celery calls in this app: ids in, one call."""

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
    max_retries=8,
)
def fire_cron(trigger_id: str) -> None:
    """A schedule may be due; start what is."""
    cron.fire(UUID(trigger_id))


@task("executions.run_job")
def run_job(job_id: str) -> None:
    """Compute what a request asked for."""
    worker.run(UUID(job_id))


@task("executions.start_ticks")
def start_ticks() -> dict[str, int]:
    """Every five seconds: schedules' times that nobody knocked for, and ticks that wait."""
    return cron.tend()


@task("executions.prune_signatures")
def prune_signatures() -> int:
    """Every minute: webhooks' signatures that are too old to be accepted again."""
    return webhook.prune()


@task("executions.prune_counts")
def prune_counts() -> int:
    """Every hour: counters of quotas whose windows are long over, and of sign-ins."""
    return quotas.prune() + rates.prune()


@task("executions.prune_answers")
def prune_answers() -> int:
    """Every minute: answers kept for an `Idempotency-Key` for more than a day."""
    return retention.prune()


@task("executions.seal_audit")
def seal_audit() -> int:
    """Every thirty seconds: seal what is new in the audit trail; how many rows."""
    return seals.seal().rows


@task("executions.prune_sessions")
def prune_sessions() -> int:
    """Every hour: sessions that expired."""
    return sessions.prune()


@task("executions.clear_browser_sessions")
def clear_browser_sessions() -> int:
    """Every hour: Django's sessions that are over; how many."""
    return browser_sessions.clear()


@task("executions.expire_told")
def expire_told() -> dict[str, int]:
    """Every hour: delete old events and resolved refused messages."""
    return retention.expire()
