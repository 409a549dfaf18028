"""One go through what is to be pruned: dead letters first, then the executions that they held."""

from collections.abc import Iterator, Sequence

from dlq.models import RetentionMark
from dlq.retention import aged, evidence, executions, groups, logs, trials
from dlq.retention.families import NONE_GONE, PruningPosition
from dlq.retention.pace import PruningPace
from dlq.retention.tally import PruningTally
from dlq.retention.wanted import Wanted


def kinds() -> tuple[str, ...]:
    """What can be pruned, in the order in which it goes."""
    return ("dead letters", "executions", "tests", "logs", *aged.KINDS)


def prune(chosen: Sequence[str], wanted: Wanted, pace: PruningPace) -> Iterator[PruningTally]:
    """Delete what is due of each kind, from the beginning; a tally each."""
    for kind in kinds():
        if kind not in chosen:
            continue
        if kind == "dead letters":
            yield evidence.prune(wanted, pace)
        elif kind == "executions":
            yield executions.prune(wanted, pace, PruningPosition())[0]
        elif kind == "tests":
            yield trials.prune(wanted, pace)
        elif kind == "logs":
            yield logs.prune(wanted, pace, PruningPosition())[0]
        else:
            yield aged.prune(kind, wanted, pace)


def look(chosen: Sequence[str], wanted: Wanted, pace: PruningPace) -> Iterator[PruningTally]:
    """What `prune` would delete, and why the rest stays; changes nothing."""
    for kind in kinds():
        if kind not in chosen:
            continue
        if kind == "dead letters":
            yield evidence.look(wanted)
        elif kind == "executions":
            letters = "dead letters" in chosen
            without = evidence.gone_by(wanted) if letters else NONE_GONE
            yield executions.look(wanted, pace, without)
        elif kind == "tests":
            yield trials.look(wanted, pace)
        elif kind == "logs":
            yield logs.prune(wanted, pace, PruningPosition(), looking=True)[0]
        else:
            yield aged.look(kind, wanted)


def carry_on(wanted: Wanted, pace: PruningPace) -> list[PruningTally]:
    """What is due by the settings, from where the last turn stopped."""
    done = [evidence.prune(wanted, pace), *groups.prune(wanted.now, pace)]
    tally, place = executions.prune(wanted, pace, read("executions"))
    write("executions", place)
    done += [tally, trials.prune(wanted, pace)]
    tally, reached = logs.prune(wanted, pace, read("logs"))
    if reached != PruningPosition():
        write("logs", reached)
    return [*done, tally, *(aged.prune(kind, wanted, pace) for kind in aged.KINDS)]


# Where a walk goes on the next time; whoever dies leaves the mark where it was.


def read(name: str) -> PruningPosition:
    """The beginning, where there is no mark."""
    found = RetentionMark.objects.filter(pk=name).first()
    return PruningPosition(found.at, found.row) if found else PruningPosition()


def write(name: str, position: PruningPosition | None) -> None:
    """None: the next walk begins anew."""
    if position is None:
        RetentionMark.objects.filter(pk=name).delete()
        return
    values = {"at": position.at, "row": position.id}
    RetentionMark.objects.update_or_create(name=name, defaults=values)
