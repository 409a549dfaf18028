"""The ranges of the label index are read in order, in parts, and with few unneeded rows."""

import time
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from executions.access.actor import Actor
from executions.database import ids, statements
from executions.labels import ranges
from executions.labels.finding import LabelQuery, newest
from executions.models import ExecutionLabel, Workflow, WorkflowExecution
from executions.states import ExecutionState
from executions.triggers.start import start_batch
from tests.support.workflows import publish, task

pytestmark = pytest.mark.django_db
ACTOR = Actor(None, "a test")
LABELS = {"order": "{{ input.order }}"}


@pytest.mark.parametrize("ascending", [False, True])
def test_many_ranges_are_read_in_order_and_each_execution_once(
    monkeypatch: pytest.MonkeyPatch, ascending: bool
) -> None:
    monkeypatch.setattr(ranges, "LEAST", 1)
    monkeypatch.setattr(ranges, "FIRST_ROWS", 1)
    dice, wanted = Random(7), []
    workflows = [publish({"labels": LABELS, "tasks": [task("begin")]}) for _ in range(3)]
    for _ in range(60):
        workflow = workflows[int(3 * dice.random() ** 3)]
        order = dice.choice((1, 1, 1, 2))
        found = start_batch(workflow, [{"order": order}] * dice.choice((1, 1, 9)), actor=ACTOR)
        wanted += [one.pk for one in found if order == 1]
    for pk in wanted:
        if dice.random() < 0.3:
            state = {"state": "FAILED", "finished_at": timezone.now()}
            WorkflowExecution.objects.filter(pk=pk).update(**state)
    parts = list(
        ranges.LabelRanges(
            "order", "1", [one.pk for one in workflows], ExecutionState.values, ascending
        ).parts(20)
    )
    assert [pk for part in parts for pk in part] == sorted(wanted, reverse=not ascending)
    assert 3 < len(parts) < 30


def test_a_long_list_of_many_ranges_reads_few_more_rows_than_it_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workflows = [publish({"labels": LABELS, "tasks": [task("begin")]}) for _ in range(20)]
    # One execution a millisecond: what is read depends on how even their times are.
    ticks = count(time.time_ns(), 10**6)
    monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: next(ticks)))
    for _ in range(4):
        start_batch(workflows[0], [{"order": 1}] * 500, actor=ACTOR)
    # As if workflow 2 had started half as many as workflow 1, workflow 3 a third, and so on.
    pks = list(
        ExecutionLabel.objects.order_by("execution_id").values_list("execution_id", flat=True)
    )
    shares = [1 / number for number in range(1, 21)]
    chosen = Random(7).choices([one.pk for one in workflows], shares, k=len(pks))
    for workflow in workflows:
        own = [pk for pk, other in zip(pks, chosen, strict=True) if other == workflow.pk]
        ExecutionLabel.objects.filter(execution_id__in=own).update(workflow=workflow)
    read: list[int] = []
    fetch = statements.fetch

    def counted(name: str, values: Any) -> list[tuple[Any, ...]]:
        rows = fetch(name, values)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(ranges, "FIRST_ROWS", 200)
    monkeypatch.setattr(statements, "fetch", counted)
    query = LabelQuery({"order": "1"}, Workflow.objects.filter(pk__in=[w.pk for w in workflows]))
    assert newest(None, query, 1_000).ids == pks[:-1_001:-1]
    assert sum(read) < 2_000, read
    assert len(read) < 9, read
