"""A version that fails a fifth of the time, on real workers: stopped early, and undone at once."""

from collections.abc import Iterator
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from django.db.models import Max

from executions.models import Workflow, WorkflowExecution
from executions.publishing import versioning
from executions.triggers.canary_share import takes_canary
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, effect, publish, start_many, wait_for_end
from valkyr_plugins.canary import lifecycle, settling
from valkyr_plugins.canary.lifecycle import CanaryWish
from valkyr_plugins.canary.models import Canary, CanaryState, Treatment, VersionRollback
from valkyr_plugins.canary.stop_rule import StopRule

SETTINGS = {"concurrency": {"key": "{{ input.customer }}", "limit": 100}}
# In waves, so that a stop can take effect before the next customers come. Each wave has as many
# customers of the canary as of the latest version; one of the canary's fails: exactly a fifth.
EACH, WAVES = 5, 30


def document(*, broken: bool) -> dict[str, Any]:
    """Return a step whose effect must not be repeated, and one that fails for every fifth order."""
    fails = "{{ 99 if input.order % 5 == 0 else 0 }}" if broken else 0
    return {
        "settings": SETTINGS,
        "tasks": [
            effect("reserve", value="{{ input.order }}"),
            effect("charge", "reserve", failTimes=fails, errorType="PERMANENT"),
        ],
    }


@pytest.fixture
def canary(fleet: Fleet) -> Canary:
    """Publish a broken version that takes half of the starts; only its failure rate stops it."""
    workflow = publish(document(broken=False))
    versioning.update_workflow(
        workflow.pk,
        {"definition": workflow.definition | document(broken=True)},
        actor=ACTOR,
        expected_revision=None,
    )
    rule = StopRule(at_least=50, failure_rate=10, new_group=None)
    return lifecycle.begin(workflow.pk, CanaryWish(percent=50, rule=rule), actor=ACTOR)


def waves(canary: Canary) -> Iterator[list[dict[str, Any]]]:
    """Yield payloads in waves: in each, half of the customers get the canary, by their hash.

    `order` numbers the payloads of each side.
    """
    customers = (f"c{number}" for number in count())
    for wave in range(WAVES):
        sides: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        while min(map(len, sides.values())) < EACH:
            customer = next(customers)
            side = sides[takes_canary(canary.version_id, canary.percent, customer)]
            if len(side) < EACH:
                side.append({"customer": customer, "order": wave * EACH + len(side) + 1})
        yield [*sides[True], *sides[False]]


def looked_at_since(canary: Canary, ids: list[UUID]) -> bool:
    """Return whether the canary ended, or was checked after the last of these executions ended."""
    canary.refresh_from_db()
    last = WorkflowExecution.objects.filter(pk__in=ids).aggregate(last=Max("finished_at"))["last"]
    return canary.state != CanaryState.RUNNING or canary.watched_at > last


def is_settled(rollback: VersionRollback) -> bool:
    return VersionRollback.objects.filter(pk=rollback.pk, finished_at__isnull=False).exists()


def test_a_version_that_fails_a_fifth_of_the_time_is_stopped_within_50_and_undone(
    canary: Canary,
) -> None:
    for wave in waves(canary):
        ids = start_many(Workflow.objects.get(pk=canary.workflow_id), wave)
        wait_for_end(ids)
        wait_until(lambda ids=ids: looked_at_since(canary, ids), 30, "beat's look at the wave")
        if canary.state != CanaryState.RUNNING:
            break

    assert canary.state == CanaryState.STOPPED, canary.state
    taken = WorkflowExecution.objects.filter(version=canary.version)
    assert taken.count() <= 50
    failed = set(taken.filter(state="FAILED").values_list("pk", flat=True))
    assert failed

    done = settling.roll_back(
        canary.workflow_id,
        actor=ACTOR,
        number=canary.version.number,
        treatment=Treatment.FORK,
    )
    wait_until(lambda: is_settled(done), 30, "beat's settling of the executions")

    done.refresh_from_db()
    assert (done.forked, done.failed) == (len(failed), 0)
    forks = WorkflowExecution.objects.filter(origin__in=failed)
    assert set(forks.values_list("version_id", flat=True)) == {canary.latest_id}
    wait_until(lambda: forks.filter(state="SUCCESS").count() == len(failed), 30, "the forks' ends")


def test_customers_stay_on_one_side(canary: Canary) -> None:
    workflow = Workflow.objects.get(pk=canary.workflow_id)
    customers = [f"c{n}" for n in range(12)]

    ids = [
        pk
        for order in (1, 2, 3)
        for pk in start_many(workflow, [{"customer": c, "order": order} for c in customers])
    ]
    wait_for_end(ids)

    sides: dict[str, set[int]] = {}
    rows = WorkflowExecution.objects.filter(pk__in=ids).select_related("version")
    for row in rows:
        sides.setdefault(row.trigger_payload["customer"], set()).add(row.version.number)
    assert all(len(versions) == 1 for versions in sides.values())
    assert {number for versions in sides.values() for number in versions} == {1, 2}
