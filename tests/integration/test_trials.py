"""Test runs open no dead letter, and are deleted after a day; real runs are not affected."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from dlq.intake.quarantine import quarantine
from dlq.intake.receive import take_in
from dlq.models import DeadLetterEntry, FailureGroup
from executions.access.actor import Actor
from executions.definition.graph.trial import Pin, TrialRequest
from executions.errors import WrongState
from executions.models import Workflow, WorkflowExecution, WorkflowVersion
from executions.publishing.operations import start_trial
from executions.publishing.versioning import publish_trial
from executions.states import VersionKind
from runners.models import Run
from tests.support import admin_rows
from tests.support.aging import aged
from tests.support.failures import failing_step, failure
from tests.support.segments import claimed, recorded
from tests.support.workflows import publish, task
from valkyr_plugins.timetravel.fork import replay

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")


@pytest.fixture
def orders() -> Workflow:
    return admin_rows.workflow()


def trial_of(of: Workflow, hours: float = 0.0) -> WorkflowVersion:
    """Create a test version that is `hours` hours old."""
    made = publish_trial(of.pk, None, TrialRequest(), actor=ANN)
    then = timezone.now() - timedelta(hours=hours)
    WorkflowVersion.objects.filter(pk=made.pk).update(created_at=then)
    return made


def ran(of: Workflow, version: WorkflowVersion, hours: float, **values: Any) -> WorkflowExecution:
    """Create an execution of a version that ended `hours` hours ago; with negative `hours`, it is
    running.
    """
    made = aged(of, hours / 24 if hours >= 0 else -1, **values)
    WorkflowExecution.objects.filter(pk=made.pk).update(version=version)
    return made


def prune(*arguments: str) -> str:
    said = StringIO()
    call_command("prune", "--what", "tests", *arguments, stdout=said)
    return " ".join(said.getvalue().split())


def test_a_day_later_test_versions_go_with_what_ran_of_them(orders: Workflow) -> None:
    old, young = trial_of(orders, 30), trial_of(orders, 5)
    gone, stays = ran(orders, old, 26), ran(orders, young, 4)
    real = aged(orders, 2)
    child = ran(orders, orders.latest_version, 26, parent=gone)  # type: ignore[arg-type]

    dry = prune("--dry-run")

    assert "tests 1, 2 executions, 4 runs, from " in dry
    assert WorkflowVersion.objects.filter(pk=old.pk).exists()
    assert "tests 1, 2 executions, 4 runs, from " in prune()
    assert not WorkflowVersion.objects.filter(pk=old.pk).exists()
    left = set(WorkflowExecution.objects.values_list("pk", flat=True))
    assert left == {stays.pk, real.pk}
    assert child.pk not in left
    assert WorkflowVersion.objects.filter(pk__in=[young.pk, real.version_id]).count() == 2


@pytest.mark.parametrize("hours", [-1.0, 3.0])
def test_a_version_stays_while_something_of_it_lives_or_ended_lately(
    orders: Workflow, hours: float
) -> None:
    version = trial_of(orders, 30)
    ran(orders, version, hours)

    for said in (prune("--dry-run"), prune()):
        assert "tests 0" in said
        assert "1 stay: some of their executions remain" in said

    assert WorkflowVersion.objects.filter(pk=version.pk).exists()


def test_more_versions_than_a_batch_all_go(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlq.retention.trials.AT_ONCE", 2)
    for _ in range(5):
        ran(orders, trial_of(orders, 30), 26)

    assert "tests 5, 5 executions, 10 runs" in prune()
    assert not WorkflowVersion.objects.filter(kind=VersionKind.TEST).exists()


def test_they_are_kept_for_ever_where_the_settings_say_so(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_TEST_VERSION_HOURS", "0")
    trial_of(orders, 1_000)

    assert "tests 0" in prune()


def test_a_step_that_is_dead_in_a_test_run_makes_no_dead_letter(orders: Workflow) -> None:
    run = failing_step(orders)
    WorkflowExecution.objects.filter(pk=run.execution_id).update(version=trial_of(orders))

    with transaction.atomic():
        entry = take_in(run_id=run.pk, failure=failure("broke"), exhausted=False, manual=None)

    assert entry is None
    assert not DeadLetterEntry.objects.exists()
    assert not FailureGroup.objects.exists()


def test_a_failed_test_run_ends_and_can_be_replayed() -> None:
    flow = publish({"tasks": [task("one", "flow.fail", **{"with": {"message": "no"}})]})
    tried = start_trial(flow, {}, TrialRequest(), actor=ANN)
    Run.objects.filter(execution=tried).update(budget_start=-9)  # no attempt is left
    recorded(claimed(tried.pk, "one.main"))

    tried.refresh_from_db()
    again = replay(tried.pk, actor=ANN)

    assert tried.state == "FAILED"
    assert not DeadLetterEntry.objects.exists()
    assert again.version_id == tried.version_id


def test_a_run_of_a_test_run_cannot_be_quarantined() -> None:
    flow = publish({"tasks": [task("one")]})
    tried = start_trial(flow, {}, TrialRequest(), actor=ANN)
    run = Run.objects.get(execution=tried)

    with pytest.raises(WrongState, match="test run, which has no dead letters"):
        quarantine(run.pk, actor=ANN, reason="x")

    run.refresh_from_db()
    assert run.state == "PENDING"


def test_the_admin_tells_test_runs_apart(
    orders: Workflow, admin_client: Client, static_files: None
) -> None:
    version = publish_trial(
        orders.pk, None, TrialRequest(pinned={"reserve": Pin({"password": "hunter2"})}), actor=ANN
    )
    real, tried = aged(orders, 0), ran(orders, version, 0)
    address = "/admin/executions/workflowexecution/"

    pages = {kind: str(admin_client.get(f"{address}?kind={kind}").content, "utf-8")
             for kind in ("test", "published")}  # fmt: skip
    one = str(admin_client.get(f"{address}{tried.pk}/change/").content, "utf-8")
    written = admin_client.get(f"/admin/executions/workflowversion/{version.pk}/change/")

    assert str(tried.pk) in pages["test"]
    assert str(real.pk) not in pages["test"]
    assert str(tried.pk) not in pages["published"]
    assert "science" in pages["test"]
    assert "science" not in pages["published"]
    assert "science" in one
    assert 'data-test="true"' in one
    assert "hunter2" not in str(written.content, "utf-8")
