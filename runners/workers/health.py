"""Health of the workers: each Valkyr queue must have a worker that was seen recently."""

from executions.configuration import OWN_QUEUES
from executions.health.parts import HealthFinding, Session, register
from runners.models.runner import RESPONDS_WITHIN
from runners.workers.queues import command_for

QUERY = """
    SELECT queue, count(*)
      FROM runners_runner, jsonb_array_elements_text(queues) AS queue
     WHERE workspace_id IS NULL AND leaving_at IS NULL
       AND seen_at > clock_timestamp() - %s
     GROUP BY queue
"""
EXPECTED = (
    f"a worker of each of {', '.join(sorted(OWN_QUEUES))} seen in the last "
    f"{RESPONDS_WITHIN.seconds} s"
)


def workers(session: Session) -> HealthFinding:
    """Check that each Valkyr queue has a worker that was seen recently."""
    served = dict(session.execute(QUERY, [RESPONDS_WITHIN]).fetchall())
    missing = sorted(OWN_QUEUES - served.keys())
    seen = ", ".join(f"{number} of {queue}" for queue, number in sorted(served.items()))
    if not missing:
        return HealthFinding(True, f"workers: {seen}", EXPECTED)
    return HealthFinding(
        False,
        f"workers: {seen or 'none'}; none of {', '.join(missing)}",
        EXPECTED,
        f"Start one: {command_for(missing[0])}. If it runs, its log says "
        "whether it reaches the broker and the database.",
    )


register("workers", workers)
