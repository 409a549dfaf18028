"""The engine works without the plugin; only the plugin's additions are missing."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from django.test import Client

from executions.models import WorkflowExecution
from executions.vendor_seams.django_deletion import delete_without_cascade
from runners.ports import take_checkpoint
from runners.repair.forks import fork_execution
from tests.support import admin_rows
from tests.support.engine_database import engine_database
from tests.support.left_out import run_without
from tests.support.single_thread import World, world
from tests.support.workflows import ACTOR, effect, publish, start, states
from valkyr_plugins.redrive.options import InvalidRedrive, RedriveOptions, check
from valkyr_plugins.timetravel import checkpoints
from valkyr_plugins.timetravel.models import Checkpoint

PROGRAM = """
import sys
import django
django.setup()
from executions.api import openapi
from django.urls import NoReverseMatch, resolve, reverse
import valkyr_project.celery
from executions.admin.execution import WorkflowExecutionAdmin, panels
from executions.jobs.worker import kind_named
from runners.ports import take_checkpoint
from runners.repair.forks import fork_execution
from valkyr.beat import entries
execution = "/v1/WorkflowExecution/01900000-0000-7000-8000-000000000000"
nowhere = resolve("/v1/Nothing").func
for path in ("checkpoints", "rollback", "fork", "replay"):
    print(path, resolve(f"{execution}/{path}").func is nowhere)
for name in ("checkpoint", "roll_back", "fork", "replay", "verify", "pause"):
    try:
        reverse(f"admin:executions_workflowexecution_operate_{name}", args=["1"])
    except NoReverseMatch:
        print("no", name)
document = openapi.document()
print([path for path in document["paths"] if path.endswith(("/fork", "/replay", "/rollback"))])
print([path for path in document["paths"] if "erification" in path or "heckpoint" in path])
print([name for name in document["components"]["schemas"] if "Checkpoint" in name])
print("valkyr: checkpoints" in entries(), take_checkpoint.provided, fork_execution.provided)
print([panel.__name__ for panel in panels if panel.__name__ in ("checkpoints", "verification")])
print([name for name in sys.modules if name.startswith("valkyr_plugins.timetravel")])
"""


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Replace the broker; the test runs the workers."""
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as made:
        yield made


@pytest.fixture
def _left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for port in (take_checkpoint, fork_execution):
        monkeypatch.setattr(port, "_function", None)


def test_left_out_it_adds_no_address_no_button_no_task_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors")

    assert done.stdout.splitlines() == [
        *(f"{path} True" for path in ("checkpoints", "rollback", "fork", "replay")),
        *(f"no {name}" for name in ("checkpoint", "roll_back", "fork", "replay", "verify")),
        "[]",
        "[]",
        "[]",
        "False False False",
        "[]",
        "[]",
    ], done.stderr


@pytest.mark.usefixtures("_left_out")
def test_a_workflow_with_checkpoints_runs_and_keeps_none(queue: World) -> None:
    often = {"checkpoint": {"enabled": True, "everySteps": 1}}
    document = {"settings": often, "tasks": [effect("one"), effect("two", "one")]}

    execution = start(publish(document))
    queue.drain()

    assert states([execution])[execution] == "SUCCESS"
    assert not Checkpoint.objects.filter(execution_id=execution).exists()


@pytest.mark.usefixtures("_left_out")
@pytest.mark.parametrize("scope", ["FROM", "EXECUTION"])
def test_a_redrive_of_new_executions_is_refused(scope: str) -> None:
    with pytest.raises(InvalidRedrive) as refused:
        check(RedriveOptions(scope=scope))

    [problem] = refused.value.problems
    assert (problem.path, problem.code) == ("scope", "needs_plugin")
    check(RedriveOptions(scope="STEP"))


@pytest.mark.django_db
def test_an_execution_goes_with_checkpoints_that_the_engine_does_not_know(
    django_user_model: Any,
) -> None:
    """An execution is deleted together with checkpoints that the engine does not know, as when
    the plugin is removed and its table stays.
    """
    execution = admin_rows.execution(admin_rows.workflow())
    ann = django_user_model.objects.create(username="ann")
    taken = checkpoints.take_by_hand(execution.pk, name="", actor=ACTOR)
    Checkpoint.objects.filter(pk=taken.pk).update(created_by=ann)

    delete_without_cascade(django_user_model.objects.filter(pk=ann.pk))
    taken.refresh_from_db()
    assert taken.created_by_id is None
    delete_without_cascade(WorkflowExecution.objects.filter(pk=execution.pk))
    assert not Checkpoint.objects.filter(pk=taken.pk).exists()


@pytest.mark.django_db
@pytest.mark.usefixtures("_left_out", "static_files")
def test_an_executions_page_offers_no_change_from_a_step(admin_client: Client) -> None:
    execution = admin_rows.execution(admin_rows.workflow())

    page = admin_client.get(f"/admin/executions/workflowexecution/{execution.pk}/change/")

    assert page.status_code == 200
    shown = page.content.decode()
    assert 'data-fork=""' in shown
    assert 'data-studio=""' in shown
