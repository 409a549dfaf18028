"""A traced workflow runs on real workers: chain, each, a choice's two sides, errors, approvals."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction

from executions.access.actor import Actor
from executions.models import Membership, WorkflowExecution
from executions.public.publishing import code_workspace
from executions.public.starting import ExecutionFailed
from runners.models import Run
from runners.waits import approvals
from tests.plugins.python_workflows import flows
from tests.support.engine_database import engine_database
from tests.support.fleet import QUICK, Fleet, redis_of_a_fleet
from tests.support.waiting import wait_until
from valkyr_plugins.python_workflows.publishing import publish

STEPS = {"VALKYR_EXTRA_MODULES": "tests.support.modules,tests.plugins.python_workflows.flows"}
SECONDS = 40


@pytest.fixture(scope="module")
def fleet(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    with engine_database(django_db_blocker), redis_of_a_fleet() as server:
        made = Fleet(tmp_path_factory.mktemp("fleet"), server.url, QUICK | STEPS)
        made.few()
        with made.running():
            for one in (flows.fulfil, flows.careful, flows.sorted_by_country):
                publish(one)
            yield made


@pytest.fixture(autouse=True)
def _on_workers(fleet: Fleet) -> None:
    """Let all tests share the workers."""


def ran(execution: Any) -> set[str]:
    """Return the paths of the steps that succeeded."""
    found = Run.objects.filter(execution_id=execution, superseded=False, state="SUCCESS")
    return set(found.values_list("step_path", flat=True))


def test_an_order_passes_a_chain_and_a_map() -> None:
    with transaction.atomic():
        handle = flows.fulfil.start(order=flows.Order(id=7, total=20, lines=[1, 2, 3]))

    assert handle.output(timeout=SECONDS) == {"parcels": ["p1", "p2", "p3"], "receipt": "r7"}
    assert handle.state == "SUCCESS"
    assert "approve.main" not in ran(handle.id)


def test_a_large_order_goes_on_when_a_person_approves() -> None:
    handle = flows.fulfil.start(flows.Order(id=8, total=2000, lines=[4]))
    waiting = Run.objects.filter(execution_id=handle.id, step_path="approve.main", state="WAITING")
    wait_until(waiting.exists, SECONDS, "the approval")
    ann = get_user_model().objects.create(username="ann")
    Membership.objects.create(user=ann, workspace=code_workspace(), role="ADMIN")

    approvals.decide(waiting.get().pk, approvals.APPROVED, "", user=ann, actor=Actor.of(ann))

    assert handle.output(timeout=SECONDS) == {"parcels": ["p4"], "receipt": "r8"}


def test_a_failed_charge_takes_its_own_branch() -> None:
    handle = flows.careful.start(flows.Order(id=9, total=-1))

    assert "nothing to pay" in handle.output(timeout=SECONDS)
    assert any(path.startswith("note") for path in ran(handle.id))


@pytest.mark.parametrize(("country", "task"), [("DE", "note"), ("CH", "note_2"), ("FR", "note_3")])
def test_a_switch_takes_one_way(country: str, task: str) -> None:
    handle = flows.sorted_by_country.start(country=country)

    handle.output(timeout=SECONDS)
    assert {path for path in ran(handle.id) if "note" in path} == {f"{task}.main"}


def test_a_step_that_fails_for_good_is_named_by_the_handle() -> None:
    handle = flows.fulfil.start(flows.Order(id=13, total=1))

    with pytest.raises(ExecutionFailed, match="no carrier goes there"):
        handle.output(timeout=SECONDS)
    assert WorkflowExecution.objects.get(pk=handle.id).state == "FAILED"
