"""Steps whose process on this machine is gone are sent again, long before their lease runs out."""

import logging
from uuid import UUID

from runners import metrics, outside, statements
from runners.conf import config
from runners.holder import gone
from runners.leases import announced, poisoned
from runners.resend import resend
from runners.sweeper.each import each

log = logging.getLogger(__name__)

SEEN = 2_000


def sweep() -> int:
    """Release and send the runs of dead processes; returns how many."""
    count = 0
    for run_id, token, leased_by, recoveries in statements.fetch("held", {"batch": SEEN}):
        if gone(leased_by):
            count += each(f"orphaned run {run_id}", _mend, run_id, token, leased_by, recoveries)
    return count


def _mend(run_id: UUID, token: int, leased_by: str, recoveries: int) -> int:
    crashed = 0 if announced(leased_by) else 1
    if recoveries + crashed < config().poison:
        sent = release(run_id, token, crashed)
        if sent:
            name = leased_by.partition("|")[0]
            log.warning(
                "run %s is sent again: the process of %s that held it is gone", run_id, name
            )
        return sent
    looked = outside.look(run_id)
    if looked is None:
        return 0
    return outside.fail(run_id, poisoned(looked.work.path, recoveries + crashed), token=token)


def release(run_id: object, token: int, crashed: int) -> int:
    """Put a held run back to pending and send it; 0 when it was taken over meanwhile."""
    sent = resend(
        statements.fetch(
            "release",
            {"run": run_id, "token": token, "crashed": crashed, "patience": config().patience},
        )
    )
    if sent:
        metrics.RECOVERIES.labels("sweeper").inc(sent)
        _send_siblings(run_id)
    return sent


def _send_siblings(run_id: object) -> None:
    """Send again what may have come with the same message, and is with nobody now."""
    limits = config()
    found = statements.fetch("stranded", {"run": run_id, "most": limits.pack_steps - 1})
    if found:
        stranded = {"runs": [run for (run,) in found], "patience": limits.patience}
        resend(statements.fetch("resend", stranded))
