"""Delete old cached results and rows of silent workers; resend or fail lost background jobs."""

from datetime import timedelta

from executions.database.clock import database_now
from executions.jobs import worker
from runners import statements
from runners.models import Runner

BATCH = 1_000


def expired_results() -> int:
    """Delete at most 1,000 expired results; return how many."""
    return len(statements.fetch("delete_expired_results", {"batch": BATCH}))


# Remove workers and remote runners that have not reported for a day, because each start can create
# a new name. A worker that continues after a longer interruption writes its row again.


AGE = timedelta(days=1)


def silent_runners() -> int:
    """Delete workers and remote runners that have been silent for a day; return how many."""
    old = Runner.objects.filter(seen_at__lt=database_now() - AGE)
    ids = list(old.values_list("pk", flat=True)[:BATCH])
    return old.filter(pk__in=ids).delete()[0]


# Jobs that requests gave to workers: lost jobs are sent again or fail, and old jobs are deleted.


def lost_jobs() -> int:
    """Send lost jobs again, or fail them; return how many."""
    return worker.sweep()
