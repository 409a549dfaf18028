"""Preview the effects of a migration on groups of executions; change nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from executions.public.models import WorkflowExecution
from runners.public.version_changes import Judgement, VersionMove, judge, reached
from valkyr_plugins.version_migration import statements
from valkyr_plugins.version_migration.models import ExecutionMigration

EXAMINED = 20_000  # maximum executions that one preview reads
JUDGED = 200  # maximum groups of equal executions that are decided; others are counted together
AT_ONCE = 20


class GroupVerdict(StrEnum):
    """The verdict on a group of executions: whether they can move."""

    MOVES = "MOVES"
    BUSY = "BUSY"  # a worker executes a step; the move is tried again
    REFUSED = "REFUSED"
    OVER = "OVER"  # the executions have ended, or have left the version
    UNKNOWN = "UNKNOWN"  # not decided, because there are too many different groups


@dataclass(slots=True)
class MigrationGroup:
    """Executions with the same verdict, and the same steps or reasons.

    `at` are the live tasks (for BUSY, the running ones); `starts` are those that would start now.
    """

    verdict: GroupVerdict
    count: int
    at: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    example: UUID | None = None


@dataclass(slots=True)
class MigrationPreview:
    """The groups, largest first, and the numbers of examined, movable and refused executions."""

    examined: int = 0
    moves: int = 0
    refused: int = 0
    groups: list[MigrationGroup] = field(default_factory=list)


def preview(migration: ExecutionMigration) -> MigrationPreview:
    """Return the migration's effects on its first 20,000 queued executions, in groups."""
    rows = statements.fetch(
        "group_by_position",
        {"migration": migration.pk, "source": migration.source_id, "most": EXAMINED},
    )
    found: dict[tuple[object, ...], MigrationGroup] = {}
    chosen, others = rows[:JUDGED], rows[JUDGED:]
    for first in range(0, len(chosen), AT_ONCE):
        for group in _judged(migration, chosen[first : first + AT_ONCE]):
            key = (group.verdict, group.at, group.starts, group.reasons)
            if key in found:
                found[key].count += group.count
            else:
                found[key] = group
    if others:
        rest = sum(row[1] for row in others)
        found[("others",)] = MigrationGroup(GroupVerdict.UNKNOWN, rest, example=others[0][3])
    groups = sorted(found.values(), key=lambda group: -group.count)
    return MigrationPreview(
        examined=sum(row[1] for row in rows),
        moves=sum(group.count for group in groups if group.verdict is GroupVerdict.MOVES),
        refused=sum(group.count for group in groups if group.verdict is GroupVerdict.REFUSED),
        groups=groups,
    )


def _judged(
    migration: ExecutionMigration, rows: Sequence[tuple[object, ...]]
) -> list[MigrationGroup]:
    move = VersionMove(migration.source_id, migration.target_id, migration.names)
    ids = [row[3] for row in rows if isinstance(row[3], UUID)]
    undoing = set(
        WorkflowExecution.objects.filter(pk__in=ids)
        .exclude(compensation="")
        .values_list("pk", flat=True)
    )
    steps = reached(ids)
    made = []
    for _, count, _, example, gone in rows:
        assert isinstance(count, int)
        assert isinstance(example, UUID)
        if gone:
            made.append(MigrationGroup(GroupVerdict.OVER, count, example=example))
        elif example in undoing:
            reason = "The steps are being undone; these executions end on their own version."
            made.append(
                MigrationGroup(GroupVerdict.REFUSED, count, reasons=(reason,), example=example)
            )
        else:
            made.append(_group(judge(move.change, steps[example]), count, example))
    return made


def _group(found: Judgement, count: int, example: UUID) -> MigrationGroup:
    if found.problems:
        return MigrationGroup(
            GroupVerdict.REFUSED, count, found.at, reasons=found.problems, example=example
        )
    if found.busy:
        return MigrationGroup(GroupVerdict.BUSY, count, found.busy, example=example)
    return MigrationGroup(GroupVerdict.MOVES, count, found.at, found.starts, example=example)
