"""A workspace moves between databases of which one, or each, has partitions."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from executions import lifecycle
from executions.database import moved_workspaces
from executions.database.routing import serving
from executions.models import Tier, Workflow, WorkflowExecution, Workspace
from runners.models import Run
from runners.moving import moves
from runners.partitions import switching, upkeep
from runners.partitions.short_locks import ATTEMPTS
from tests.support import emptying
from tests.support.cell_databases import second_cell
from tests.support.partitioned import id_of_day, partitioned
from tests.support.rates import forget_rates
from tests.support.workflows import ACTOR, publish, start, task

NAME = f"partitioned_moves_{os.getpid()}"
TASKS = {"tasks": [task("one"), task("two", after="one")]}


@pytest.fixture(name="b", scope="module")
def _b(engine: None) -> Iterator[str]:
    with second_cell(NAME) as made:
        yield made
        emptying.empty()


@contextmanager
def layouts(here: bool, b: str, there: bool) -> Iterator[None]:
    """Partition the databases that are to be, for the block; the first one is already."""
    with ExitStack() as stack:
        if not here:
            switching.turn_off()
            stack.callback(_turn_on)
        if there:
            stack.enter_context(serving(b))
            stack.enter_context(partitioned())
            stack.enter_context(serving("default"))
        yield


def _turn_on() -> None:
    assert switching.turn_on(1)
    upkeep.add_ahead(attempts=ATTEMPTS)


def old(pk: UUID) -> UUID:
    """Give an ended execution's runs ids of 40 days ago, as runs of that day have; return it."""
    for run in Run.objects.filter(execution_id=pk):
        Run.objects.filter(pk=run.pk).update(id=id_of_day(40))
    return pk


def runs(alias: str, ids: list[UUID]) -> set[Any]:
    with serving(alias):
        return set(Run.objects.filter(execution_id__in=ids).values_list("id", "task_id", "state"))


@pytest.mark.parametrize(("here", "there"), [(True, False), (False, True), (True, True)])
def test_a_workspace_moves_there_and_back(b: str, here: bool, there: bool) -> None:
    forget_rates()
    moved_workspaces.forget()
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    space = Workspace.objects.create(name="South", slug=f"south-{here}-{there}", tier=tier)
    workflow: Workflow = publish(TASKS, space)
    ids = [start(workflow) for _ in range(4)]
    for pk in ids[:2]:
        lifecycle.cancel(pk, actor=ACTOR)
    old(ids[0])
    known = runs("default", ids)

    with layouts(here, b, there):
        moves.move(str(space.pk), b, lambda _: None, pause_seconds=60)
        moved = runs(b, ids)
        with serving(b):
            live = WorkflowExecution.objects.filter(pk__in=ids, finished_at=None).count()
        moves.move(str(space.pk), "", lambda _: None, pause_seconds=60)
        back = runs("default", ids)
    connections.close_all()

    assert moved == known
    assert live == 2
    assert back == known
