"""A remote runner says that it is at work, and learns whether it still should be."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.public.values import payloads
from runners.public.leased_runs import MAX_DETAILS_BYTES, config, look, scrubber
from runners.public.models import Run, RunState
from runners.public.modules import StepError
from valkyr_plugins.remote import statements
from valkyr_plugins.remote.errors import LeaseOver
from valkyr_plugins.remote.tokens import number_of

WHAT = "details of the heartbeat"


@dataclass(frozen=True, slots=True)
class Beat:
    """How long the lease lasts now, and whether the run is wanted; one that is not has no lease."""

    lease_until: datetime | None
    wanted: bool


def beat(run: Run, token: str, details: Any = None) -> Beat:
    """Renew a lease, and begin the run with the first; `details` reach the next attempt.

    Raises LeaseOver, and PayloadError for details that cannot be stored.
    """
    text = None if details is None else _clean(run.pk, details)
    number = number_of(run.pk, token)
    if number is None:
        raise LeaseOver(run.state)
    limits = config()
    row = statements.fetch_one(
        "heartbeat",
        {
            "run": run.pk,
            "token": number,
            "details": text,
            "lease": limits.lease,
            "grace": limits.grace,
        },
    )
    if row is not None:
        return Beat(row[0], wanted=True)
    run.refresh_from_db(fields=["state", "lease_token"])
    # Whoever ends an execution or rolls it back makes the token one larger.
    if run.state == RunState.CANCELLED and run.lease_token == number + 1:
        return Beat(None, wanted=False)
    raise LeaseOver(run.state)


def _clean(run_id: UUID, details: Any) -> str | None:
    """The details as canonical JSON, without the secrets that the step was given.

    None where nothing could take them out, since one is gone meanwhile.
    """
    payloads.dump(details, WHAT, MAX_DETAILS_BYTES)
    looked = look(run_id)
    try:
        scrub = None if looked is None else scrubber(looked)
    except StepError:
        return None
    kept = details if scrub is None else scrub.value(details, WHAT)
    return payloads.dump(kept, WHAT, MAX_DETAILS_BYTES)
