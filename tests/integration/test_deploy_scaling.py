"""KEDA's query, taken from the manifest and run on the real tables.

KEDA's own schema is not available, so the tests check its objects by structure: they must have the
fields that its documentation names, and no others.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import ProgrammingError, connection, transaction
from django.db.models.functions import Now

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.workflows import publish, start

MANIFEST = Path(__file__).parents[2] / "deploy" / "kubernetes" / "keda" / "scaled-objects.yaml"
FIELDS = {
    "scaleTargetRef",
    "minReplicaCount",
    "maxReplicaCount",
    "pollingInterval",
    "cooldownPeriod",
    "advanced",
    "fallback",
    "triggers",
}
TRIGGER = {"type", "authenticationRef", "metricType", "metadata"}
POSTGRESQL = {"query", "targetQueryValue", "activationTargetQueryValue"}


def scaled() -> dict[str, dict[str, Any]]:
    """Return the specification of each ScaledObject, by the queue of the worker that it scales."""
    return {
        one["spec"]["scaleTargetRef"]["name"].removeprefix("valkyr-worker-"): one["spec"]
        for one in yaml.safe_load_all(MANIFEST.read_text())
        if one["kind"] == "ScaledObject"
    }


def ask(queue: str) -> int:
    """Return the metric that KEDA gets."""
    with connection.cursor() as cursor:
        cursor.execute(scaled()[queue]["triggers"][0]["metadata"]["query"])
        [[value]] = cursor.fetchall()
    return int(value)


def waiting(executions: int = 3) -> None:
    """Start executions of one step for `default`, which no worker processes."""
    workflow = publish({"tasks": [{"id": "one", "use": "flow.noop", "with": {}}]})
    for _ in range(executions):
        start(workflow)


def test_every_scaled_object_has_only_what_keda_knows() -> None:
    assert set(scaled()) == {"default", "io"}
    for spec in scaled().values():
        assert set(spec) <= FIELDS
        assert spec["minReplicaCount"] < spec["maxReplicaCount"]
        [trigger] = spec["triggers"]
        assert set(trigger) == TRIGGER
        assert set(trigger["metadata"]) == POSTGRESQL
        assert trigger["type"] == "postgresql"


@pytest.mark.django_db
def test_the_query_counts_what_waits_in_its_own_queue() -> None:
    waiting(3)

    assert ask("default") == 3
    assert ask("io") == 0


@pytest.mark.django_db
def test_what_runs_counts_and_what_is_over_held_or_not_due_does_not() -> None:
    waiting(5)
    runs = [Run.objects.filter(pk=pk) for pk in Run.objects.values_list("pk", flat=True)]
    runs[0].update(state="RUNNING", lease_until=Now(), leased_by="somebody", lease_token=1)
    runs[1].update(state="SUCCESS", finished_at=Now())
    runs[2].update(retry_after="2999-01-01T00:00:00Z")
    WorkflowExecution.objects.filter(runs=runs[3].get()).update(state="PAUSED")

    assert ask("default") == 2


@pytest.mark.django_db
def test_the_count_stops_at_the_most_that_is_asked_for() -> None:
    waiting(4)
    with connection.cursor() as cursor:
        cursor.execute("SELECT valkyr_queue_load('default', 2)")
        assert cursor.fetchone() == (2,)


@pytest.mark.django_db
def test_who_scales_may_call_the_function_and_read_no_table() -> None:
    waiting(1)
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE valkyr_scaler")
        cursor.execute("SET LOCAL ROLE valkyr_scaler")
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            ask("default")
        cursor.execute("RESET ROLE")
        cursor.execute(
            "GRANT EXECUTE ON FUNCTION valkyr_queue_load(text, integer) TO valkyr_scaler"
        )
        cursor.execute("SET LOCAL ROLE valkyr_scaler")
        assert ask("default") == 1
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            cursor.execute("SELECT count(*) FROM runners_run")
        cursor.execute("RESET ROLE")
