"""One pass of pruning: dead letters first, because they prevent the deletion of executions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dlq import statements
from dlq.models import RetentionMark
from dlq.retention import by_age, dead_letters, executions, groups, periods, trials
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.executions import NONE_GONE, PruningPosition
from dlq.retention.periods import RetentionPeriods
from dlq.retention.terms import parameters
from executions.access.actor import Actor, record
from executions.database.advisory_locks import AdvisoryLock, alone
from executions.database.clock import database_now

# Step logs are deleted before their execution, if the settings say so.


def prune_logs(
    wanted: RetentionPeriods, pace: PruningPace, since: PruningPosition, *, looking: bool = False
) -> tuple[PruningTally, PruningPosition]:
    """Clear the logs of executions whose log period is over; with `looking`, only count them.

    Return the tally and the next position. Executions before the position are not visited again. An
    execution that is reopened and ends again gets a new position.
    """
    tally, before = PruningTally("logs"), wanted.before(periods.log_days())
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


def kinds() -> tuple[str, ...]:
    """Return the kinds of rows that can be pruned, in the order of pruning."""
    return ("dead letters", *groups.KINDS, "executions", "tests", "logs", *by_age.KINDS)


def prune(
    chosen: Sequence[str], wanted: RetentionPeriods, pace: PruningPace
) -> Iterator[PruningTally]:
    """Prune the chosen kinds of rows, ignoring stored positions; yield a tally for each kind."""
    for kind in kinds():
        if kind not in chosen:
            continue
        if kind == "dead letters":
            yield dead_letters.prune(wanted, pace)
        elif kind in groups.KINDS:
            yield groups.prune(kind, wanted, pace)
        elif kind == "executions":
            yield executions.prune(wanted, pace, PruningPosition())[0]
        elif kind == "tests":
            yield trials.prune(wanted, pace)
        elif kind == "logs":
            yield prune_logs(wanted, pace, PruningPosition())[0]
        else:
            yield by_age.prune(kind, wanted, pace)


def look(
    chosen: Sequence[str], wanted: RetentionPeriods, pace: PruningPace
) -> Iterator[PruningTally]:
    """Yield tallies of the rows that `prune` would delete, with the reasons for keeping other rows.

    No row is changed.
    """
    letters = "dead letters" in chosen
    for kind in kinds():
        if kind not in chosen:
            continue
        if kind == "dead letters":
            yield dead_letters.look(wanted)
        elif kind in groups.KINDS:
            yield groups.look(kind, wanted, dead_letters.due(wanted) if letters else None)
        elif kind == "executions":
            without = dead_letters.gone_by(wanted) if letters else NONE_GONE
            yield executions.look(wanted, pace, without)
        elif kind == "tests":
            yield trials.look(wanted, pace)
        elif kind == "logs":
            yield prune_logs(wanted, pace, PruningPosition(), looking=True)[0]
        else:
            yield by_age.look(kind, wanted)


def carry_on(wanted: RetentionPeriods, pace: PruningPace) -> list[PruningTally]:
    """Prune all kinds of rows, from where the last pass stopped; return the tallies."""
    done = [dead_letters.prune(wanted, pace)]
    dead_letters.follow_setting(wanted.now, pace)
    done += [groups.prune(kind, wanted, pace) for kind in groups.KINDS]
    tally, place = executions.prune(wanted, pace, read("executions"))
    write("executions", place)
    done += [tally, trials.prune(wanted, pace)]
    tally, reached = prune_logs(wanted, pace, read("logs"))
    if reached != PruningPosition():
        write("logs", reached)
    return [*done, tally, *(by_age.prune(kind, wanted, pace) for kind in by_age.KINDS)]


# The position at which a walk continues; it does not change if the process dies.


def read(name: str) -> PruningPosition:
    """Return the stored position of a walk, or the beginning if no position is stored."""
    found = RetentionMark.objects.filter(pk=name).first()
    return PruningPosition(found.at, found.row) if found else PruningPosition()


def write(name: str, position: PruningPosition | None) -> None:
    """Store the position of a walk; with None, the next walk begins at the start."""
    if position is None:
        RetentionMark.objects.filter(pk=name).delete()
        return
    values = {"at": position.at, "row": position.id}
    RetentionMark.objects.update_or_create(name=name, defaults=values)


# A turn of some seconds runs once a day, and is repeated at once while more rows are due.


TURN_SECONDS = 5.0
ACTOR = Actor.system("retention")


@dataclass(frozen=True, slots=True)
class PruningTurn:
    """The number of pruned rows per kind, and whether the time limit was reached."""

    counts: dict[str, int] = field(default_factory=dict)
    more: bool = False


def turn(seconds: float = TURN_SECONDS) -> PruningTurn:
    """Prune for up to `seconds`; do nothing if another process is pruning.

    For invalid settings, raises ImproperlyConfigured and deletes no rows.
    """
    with alone(AdvisoryLock.RETENTION) as held:
        if not held:
            return PruningTurn()
        tallies = carry_on(periods.as_set(database_now()), PruningPace.for_seconds(seconds))
    note(tallies, ACTOR)
    return PruningTurn({one.kind: one.rows for one in tallies}, any(one.more for one in tallies))


def note(tallies: list[PruningTally], actor: Actor, **how: object) -> None:
    """Record the deleted rows in the audit trail, if there are any."""
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
