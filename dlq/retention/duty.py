"""Once a day, and again at once while there is more: a turn of some seconds."""

from dataclasses import dataclass, field

from dlq.retention import pruning, wanted
from dlq.retention.pace import PruningPace
from dlq.retention.tally import PruningTally
from executions.access.actor import Actor, record
from executions.database.advisory_lock import alone
from executions.database.advisory_locks import AdvisoryLock
from executions.database.clock import database_now

TURN_SECONDS = 5.0
ACTOR = Actor.system("retention")


@dataclass(frozen=True, slots=True)
class PruningTurn:
    """How many rows went, by kind, and whether time was over before all did."""

    counts: dict[str, int] = field(default_factory=dict)
    more: bool = False


def turn(seconds: float = TURN_SECONDS) -> PruningTurn:
    """Prune for so long; nothing where somebody else does right now.

    Raises ImproperlyConfigured where the settings make no sense: then nothing is deleted.
    """
    with alone(AdvisoryLock.RETENTION) as held:
        if not held:
            return PruningTurn()
        tallies = pruning.carry_on(wanted.as_set(database_now()), PruningPace.for_seconds(seconds))
    note(tallies, ACTOR)
    return PruningTurn({one.kind: one.rows for one in tallies}, any(one.more for one in tallies))


def note(tallies: list[PruningTally], actor: Actor, **how: object) -> None:
    """A row of the audit trail that says what went, where anything did."""
    gone = {one.kind: one.rows for one in tallies if one.rows}
    if gone:
        record(
            actor,
            "retention.prune",
            workspace_id=None,
            object_type="Retention",
            object_id="prune",
            details={"deleted": gone, **how},
        )
