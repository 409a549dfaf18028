"""The driver gives each running migration a turn, however many there are."""

from uuid import UUID

import pytest

from tests.support.single_thread import World
from tests.support.version_moves import versions
from tests.support.workflows import ACTOR, start, task
from valkyr_plugins.version_migration import driver, lifecycle
from valkyr_plugins.version_migration.models import ExecutionMigration
from valkyr_plugins.version_migration.plan import MigrationPlan


def slow() -> UUID:
    """Start a migration of two executions whose rate allows one move."""
    workflow = versions([task("one")], [task("one"), task("then", after="one")])
    for _ in range(2):
        start(workflow, version=1)
    made = lifecycle.make(workflow, MigrationPlan(source=1, rate=0.001), actor=ACTOR)
    return lifecycle.start(made.pk, actor=ACTOR).pk


def test_each_migration_has_its_turn_however_many_there_are(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "MOST", 1)
    ids = [slow() for _ in range(3)]

    for _ in range(3):
        driver.turn()

    rows = ExecutionMigration.objects.filter(pk__in=ids)
    assert list(rows.values_list("moved", "state")) == [(1, "RUNNING")] * 3
