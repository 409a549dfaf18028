"""Release a run from a lost holder, and count only the crashes that the run itself caused.

The run is released and sent again; after `config().poison` counted crashes, it fails permanently.
"""

import logging
from uuid import UUID

from runners import statements
from runners.conf import config
from runners.dispatch.messages import resend
from runners.observability import metrics
from runners.pipeline import end_run
from runners.pipeline.claim_run import poisoned
from runners.process.cause_of_death import Death
from runners.segment.run_rows import release

log = logging.getLogger(__name__)

# The delay after a second crash in a row, which doubles with each further crash to avoid a busy
# loop.
FIRST_DELAY, MOST_DELAY = 1.0, 60.0


def mend(
    execution_id: UUID,
    run_id: UUID,
    token: int,
    crashes: int,
    death: Death,
    *,
    at_once: bool = False,
) -> int:
    """Release a lost run and send it again, or fail it after too many crashes.

    Return 1, or 0 if the run has ended or was taken over. `crashes` is the previous count. After a
    crash, the run waits for `backoff`; otherwise, or with `at_once`, for `death.delay`.
    """
    crashes += death.crashed
    if crashes >= config().poison:
        return _end(execution_id, run_id, token, crashes, death)
    delay = backoff(crashes) if death.crashed and not at_once else death.delay
    rows = release(execution_id, run_id, token, death, delay=delay)
    if rows:
        metrics.DEATHS.labels("step" if death.crashed else "unknown").inc()
        metrics.RECOVERIES.labels("sweeper").inc()
        if not delay:
            resend(rows)
        _send_siblings(execution_id, run_id)
        log.warning("run %s is sent again: %s", run_id, death.cause or "its holder was lost")
    return len(rows)


def backoff(crashes: int) -> float:
    """Return how many seconds a run waits after this many crashes; 0 after the first crash."""
    if crashes <= 1:
        return 0.0
    return float(min(MOST_DELAY, FIRST_DELAY * 2 ** min(crashes - 2, 10)))


def _end(execution_id: UUID, run_id: UUID, token: int, crashes: int, death: Death) -> int:
    looked = end_run.look(execution_id, run_id)
    if looked is None:
        return 0
    failure = poisoned(looked.work.path, crashes, death.cause)
    ended = end_run.fail(execution_id, run_id, failure, token=token, crash_cause=death.cause)
    if ended and death.crashed:
        metrics.DEATHS.labels("step").inc()
    return int(ended)


def _send_siblings(execution_id: UUID, run_id: UUID) -> None:
    """Resend the pending siblings that may have been in the lost run's message."""
    limits = config()
    asked = {"execution": execution_id, "run": run_id, "most": limits.pack_steps - 1}
    found = statements.fetch("siblings_of_lost_run", asked)
    if found:
        stranded = {
            "executions": [execution_id] * len(found),
            "runs": [run for (run,) in found],
            "patience": limits.patience,
        }
        resend(statements.fetch("mark_lost_runs_resent", stranded))
