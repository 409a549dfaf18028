"""Random forests of executions: retention deletes the same executions as a plain implementation of
the rules.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from dlq.models import DeadLetterEntry, Resolution
from dlq.retention import pruning
from dlq.retention.batches import PruningPace
from dlq.retention.periods import as_set
from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.models import WorkflowExecution
from runners.models import Run
from tests.support import admin_rows
from tests.support.aging import left

pytestmark = pytest.mark.django_db
DAYS = {"SUCCESS": 30, "CANCELLED": 30, "FAILED": 90, "TIMEOUT": 90}
KINDS = ("dead letters", "executions")


@dataclass
class Made:
    """One execution, as it was created; `letter` is none, open, pinned, fresh or over."""

    row: WorkflowExecution
    letter: str
    children: list["Made"] = field(default_factory=list)

    def family(self) -> Iterator["Made"]:
        yield self
        for child in self.children:
            yield from child.family()


def forest(seed: int, size: int = 70) -> list[Made]:
    """Create executions of every state and age, linked at random."""
    dice, flow, now = random.Random(seed), admin_rows.workflow(), timezone.now()
    made: list[Made] = []
    for _ in range(size):
        state = dice.choice([*DAYS, "SUCCESS", "SUCCESS", "FAILED"] + ["RUNNING"] * (seed % 2))
        ended = now - timedelta(days=dice.choice([5, 40, 100, 400]))
        row = WorkflowExecution(
            id=uuid7(), workspace_id=flow.workspace_id, workflow=flow, version=flow.latest_version,
            state=state, created_at=ended, started_at=ended,
            finished_at=None if state == "RUNNING" else ended,
        )  # fmt: skip
        one = Made(row, dice.choice(["none"] * 9 + ["open", "pinned", "fresh", "over"]))
        above = dice.choice(made) if made and dice.random() < 0.5 else None
        if above is not None:
            above.children.append(one)
            if dice.random() < 0.7:
                row.parent, row.failure_of = above.row, above.row.failure_of
            else:
                row.failure_of = above.row
        if made and dice.random() < 0.15:
            row.origin = dice.choice(made).row
        made.append(one)
    WorkflowExecution.objects.bulk_create([one.row for one in made])
    _hang(made, now)
    return made


def _hang(made: list[Made], now: datetime) -> None:
    runs = {
        one.row.pk: Run(
            execution=one.row, segment="a", step_path="a.main", task_id=uuid4(), module_id=uuid4(),
            module="flow.noop", queue="default", state="DLQ", finished_at=now,
        )
        for one in made
    }  # fmt: skip
    Run.objects.bulk_create(runs.values())
    for one in made:
        if one.letter == "none":
            continue
        letter = admin_rows.dead_letter(runs[one.row.pk])
        if one.letter != "open":
            days = 10 if one.letter == "fresh" else -10
            DeadLetterEntry.objects.filter(pk=letter.pk).update(
                resolution=Resolution.DISCARDED, resolved_at=now - timedelta(days=40),
                expires_at=now + timedelta(days=days), pinned=one.letter == "pinned",
            )  # fmt: skip


def expected(made: list[Made]) -> set[UUID]:
    """Return the executions that the rules keep, checked one by one."""
    now = timezone.now()
    live_origins = {one.row.origin_id for one in made if one.row.state == "RUNNING"}

    def may_go(one: Made) -> bool:
        # An expired dead letter is deleted first, unless its execution is running.
        return (
            one.row.finished_at is not None
            and one.row.finished_at < now - timedelta(days=DAYS[one.row.state])
            and one.letter in {"none", "over"}
            and one.row.pk not in live_origins
        )

    roots = [one for one in made if one.row.parent is None and one.row.failure_of is None]
    kept = [root for root in roots if not all(may_go(one) for one in root.family())]
    return {one.row.pk for root in kept for one in root.family()}


@pytest.mark.parametrize("seed", range(4))
def test_whole_families_go_and_nothing_that_stays_loses_anything(seed: int) -> None:
    made = forest(seed)
    keep = expected(made)
    wanted = as_set(database_now())

    looked = list(pruning.look(KINDS, wanted, PruningPace(rest=0.0)))
    before = left()
    pruned = list(pruning.prune(KINDS, wanted, PruningPace(rest=0.0, batch=7)))

    assert before == {one.row.pk for one in made}
    assert left() == keep
    assert 0 < len(keep) < len(made)
    for there, here in zip(looked, pruned, strict=True):
        assert (there.rows, there.parts) == (here.rows, here.parts)
        assert (there.first, there.last) == (here.first, here.last)
    assert Counter(Run.objects.values_list("execution_id", flat=True)) == Counter(keep)
    for one in made:
        if one.row.pk in keep:
            row = WorkflowExecution.objects.get(pk=one.row.pk)
            assert (row.parent_id, row.failure_of_id) == (one.row.parent_id, one.row.failure_of_id)
            gone = one.row.origin_id not in keep
            assert row.origin_id == (None if gone else one.row.origin_id)
