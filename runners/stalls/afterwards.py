"""Clean up after a stalled process was killed: `python -m runners.stalls.afterwards {…}`.

This program loads Django. It sends the blamed run again, or fails it if it crashed too often. It
also releases the other runs of the killed process, which are not blamed. If this program dies, the
sweeper sends the blamed run after its delay, and treats the other runs as suspects.
"""

import json
import logging
import os
import sys
import time
from dataclasses import asdict, dataclass
from uuid import UUID

PROGRAM = "runners.stalls.afterwards"
# How many seconds a killed process may take to disappear.
VANISH_SECONDS = 10.0
log = logging.getLogger("runners.stalls")


@dataclass(frozen=True, slots=True)
class Stall:
    """A process that was killed, and the run that was blamed for the stall (or none)."""

    pid: int
    start: str
    run: str
    token: int  # the run's token after the fencing
    cause: str


def begin(stall: Stall) -> None:
    """Start this program in parallel with the watchdog, without waiting for it."""
    import subprocess  # imported here because it takes a megabyte and is rarely needed

    subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", PROGRAM, json.dumps(asdict(stall))],
        stdin=subprocess.DEVNULL,
        env=os.environ | {"VALKYR_POOL": "prefork"},  # a single connection instead of a pool
    )


def main() -> None:
    """Handle the stall that the command line describes."""
    stall = Stall(**json.loads(sys.argv[1]))
    import django

    django.setup()
    from django.db import connections

    try:
        if stall.run:
            _go_on(stall)
        _give_back_others(stall)
    finally:
        connections.close_all()


def _go_on(stall: Stall) -> None:
    from runners.conf import config
    from runners.dispatch.messages import resend
    from runners.observability import metrics
    from runners.pipeline import end_run
    from runners.pipeline.claim_run import poisoned
    from runners.pipeline.crashes import backoff
    from runners.segment.run_rows import release

    run_id = UUID(stall.run)
    execution_id = end_run.execution_of(run_id)
    looked = None if execution_id is None else end_run.look(execution_id, run_id)
    if execution_id is None or looked is None or looked.token != stall.token:
        return
    metrics.RECOVERIES.labels("sweeper").inc()
    log.error("run %s of step %s: %s", run_id, looked.work.path, stall.cause)
    if looked.crashes >= config().poison:
        failure = poisoned(looked.work.path, looked.crashes, stall.cause)
        end_run.fail(execution_id, run_id, failure, token=stall.token)
        return
    delay = backoff(looked.crashes)
    rows = release(execution_id, run_id, stall.token, delay=delay)
    if not delay:
        resend(rows)


def _give_back_others(stall: Stall) -> None:
    from runners import statements
    from runners.conf import worker_name
    from runners.dispatch.messages import resend
    from runners.process.identity import SEPARATOR, gone, pid_of, started
    from runners.segment.run_rows import release

    until = time.monotonic() + VANISH_SECONDS
    while started(stall.pid) == stall.start and time.monotonic() < until:
        time.sleep(0.02)
    rows = []
    held = statements.fetch("runs_of_worker", {"name": worker_name() + SEPARATOR})
    for run_id, execution_id, token, leased_by in held:
        there = pid_of(leased_by) == stall.pid and leased_by.split(SEPARATOR)[2] == stall.start
        if there and gone(leased_by):
            rows += release(execution_id, run_id, token)
    resend(rows)


if __name__ == "__main__":
    main()
