"""Pruning is killed midway while an engine works: running executions are not affected."""

import os
import sys
from pathlib import Path

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support import admin_rows
from tests.support.aging import aged
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.nursery import Forked, from_libraries
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start_many, wait_for_end

OLD, LIVE = 120, 40
PRUNE = (sys.executable, "manage.py", "prune", "--batch", "2")


def prune(fleet: Fleet) -> Forked:
    with Path(os.devnull).open("wb") as nothing:
        return from_libraries(PRUNE, environment=fleet.environment, output=nothing.fileno())


def test_a_pruner_killed_in_the_middle_leaves_whole_families_and_the_engine_alone(
    fleet: Fleet,
) -> None:
    flow = admin_rows.workflow("old-orders")
    roots = [aged(flow, 400) for _ in range(OLD)]
    children = [aged(flow, 400, parent=root, depth=1) for root in roots]
    old = WorkflowExecution.objects.filter(workflow=flow)
    live = start_many(publish({"tasks": [effect("a"), effect("b", after="a")]}), [{}] * LIVE)

    pruner = prune(fleet)
    wait_until(lambda: old.count() < 2 * OLD, 60, "the first to go")
    pruner.kill()
    pruner.wait()

    left = set(old.values_list("pk", flat=True))
    assert left
    for root, child in zip(roots, children, strict=True):
        assert (root.pk in left) == (child.pk in left)
    runs = Run.objects.filter(execution__workflow=flow)
    assert runs.count() == 2 * len(left)

    assert prune(fleet).wait(timeout=120) == 0
    assert not old.exists()
    assert set(wait_for_end(live).values()) == {"SUCCESS"}
    audit(live)
