"""Let go of a held run: it is pending again, and what held it is fenced."""

from typing import Any

from runners import statements
from runners.conf import config
from runners.process.cause_of_death import Death

NOBODY = Death()


def release(
    run_id: object, token: int, death: Death = NOBODY, *, delay: float = 0
) -> list[tuple[Any, ...]]:
    """Put the run back to pending; what to send for it, or nothing where it was taken over.

    With a delay nothing is to be sent: the sweeper sends the run when it is due.
    """
    rows = statements.fetch(
        "release",
        {
            "run": run_id,
            "token": token,
            "lost": death.lost,
            "crashed": death.crashed,
            "cause": death.cause,
            "suspect": death.suspect,
            "delay": delay,
            "patience": config().patience,
        },
    )
    return list(rows)
