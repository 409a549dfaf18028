"""The program that records one blame, with Django: `python -m runners.stalls.blaming {…}`.

The watchdog stays small; this process lives a few seconds. See `telling` for the order of things.
"""

import json
import logging
import os
import select
import sys
from dataclasses import dataclass
from uuid import UUID

from runners.stalls.places import EXECUTES
from runners.stalls.telling import DONE

# The watchdog ends the process at once after the answer; what ends otherwise is the sweeper's.
ENDED_SECONDS = 10.0
log = logging.getLogger("runners.stalls")


@dataclass(frozen=True, slots=True)
class Stall:
    """A process that stalled, and what its busiest thread did."""

    pid: int
    start: str
    run: str
    token: int
    phase: int
    seconds: float


def main() -> None:
    """Blame the run, answer, and give back the others once the process has ended."""
    stall = Stall(**json.loads(sys.argv[1]))
    import django

    django.setup()
    from django.db import connections

    try:
        _blame(stall)
        sys.stdout.buffer.write(DONE)
        sys.stdout.buffer.flush()
        ready, _, _ = select.select([sys.stdin], [], [], ENDED_SECONDS)
        if ready:
            _give_back_others(stall)
    finally:
        connections.close_all()


def _blame(stall: Stall) -> None:
    from runners import outside
    from runners.blame import blame, mend
    from runners.judging import LOST

    run_id = UUID(stall.run)
    if stall.phase == EXECUTES:
        cause = (
            f"it stalled its worker process for {stall.seconds:.0f} s: no other thread could run"
        )
        counted = blame(run_id, stall.token, cause)
    else:
        # What came after the step stalled: a step that follows, of which there is no run yet.
        # As a suspect the run is carried alone, and the next step gets a run of its own.
        looked = outside.look(run_id)
        counted = looked is not None and bool(mend(run_id, stall.token, looked.crashes, LOST))
    log.error(
        "run %s stalled process %s for %.0f s%s",
        run_id, stall.pid, stall.seconds, "" if counted else "; it was taken over meanwhile",
    )  # fmt: skip


def _give_back_others(stall: Stall) -> None:
    """What the process held beside is nobody's fault: it is sent again at once, and no suspect."""
    from runners import statements
    from runners.holder import SEPARATOR, gone, pid_of
    from runners.releasing import release
    from runners.resend import resend

    name = os.environ.get("RUNNER_ID", "")
    rows = []
    for run_id, token, leased_by in statements.fetch("held_by", {"name": name[:90] + SEPARATOR}):
        there = pid_of(leased_by) == stall.pid and leased_by.split(SEPARATOR)[2] == stall.start
        if there and gone(leased_by):
            rows += release(run_id, token)
    resend(rows)


if __name__ == "__main__":
    main()
