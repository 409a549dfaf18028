"""What steps logged goes before their execution does, where the settings say so."""

from dlq import statements
from dlq.retention import conf
from dlq.retention.families import PruningPosition
from dlq.retention.pace import PruningPace
from dlq.retention.tally import PruningTally
from dlq.retention.terms import parameters
from dlq.retention.wanted import Wanted


def prune(
    wanted: Wanted, pace: PruningPace, since: PruningPosition, *, looking: bool = False
) -> tuple[PruningTally, PruningPosition]:
    """Clear the logs of executions that ended long enough ago; and how far that has come.

    What was walked past stays walked past: an execution that goes on and ends again comes anew.
    """
    tally, before = PruningTally("logs"), wanted.before(conf.log_days())
    while before is not None:
        if pace.over:
            tally.more = True
            break
        told = parameters(wanted.terms, wanted.scope, wanted.now)
        place = {"at": since.at, "id": since.id, "before": before}
        with pace.transaction():
            ((cleared, walked, first, last, row),) = statements.fetch(
                "prune_logs", told | place | {"chunk": pace.batch, "looking": looking}
            )
        if not walked:
            break
        since = PruningPosition(last, row)
        tally.rows += cleared
        if cleared:
            tally.span(first, last)
    return tally, since
