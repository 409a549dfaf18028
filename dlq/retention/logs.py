"""What steps logged goes before their execution does, where the settings say so."""

from dlq import statements
from dlq.retention import conf
from dlq.retention.families import Position
from dlq.retention.pace import Pace
from dlq.retention.tally import Tally
from dlq.retention.terms import parameters
from dlq.retention.wanted import Wanted


def prune(
    wanted: Wanted, pace: Pace, since: Position, *, looking: bool = False
) -> tuple[Tally, Position]:
    """Clear the logs of executions that ended long enough ago; and how far that has come.

    What was walked past stays walked past: an execution that goes on and ends again comes anew.
    """
    tally, before = Tally("logs"), wanted.before(conf.log_days())
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
        since = Position(last, row)
        tally.rows += cleared
        if cleared:
            tally.span(first, last)
    return tally, since
