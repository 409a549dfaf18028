"""Workflows in Python are published by content, start in the caller's transaction, and run."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction

from dlq.models import DeadLetterEntry
from executions.database.clock import database_now
from executions.models import Workflow, WorkflowExecution
from executions.publishing.from_code import publish_from_code
from runners.modules.registry import _registry
from tests.plugins.python_workflows import flows
from tests.support.failures import fail
from valkyr_plugins.python_workflows import checks, publishing
from valkyr_plugins.python_workflows.publishing import publish, publish_all

pytestmark = pytest.mark.django_db


def test_a_traced_workflow_runs_to_its_output() -> None:
    run = flows.fulfil.run_here(flows.Order(id=7, total=20, lines=[1, 2]))

    run.assert_state("SUCCESS")
    assert run.output == {"parcels": ["p1", "p2"], "receipt": "r7"}


def test_what_was_done_is_undone_where_a_later_step_fails() -> None:
    flows.UNDONE.clear()

    run = flows.fulfil.run_here(flows.Order(id=13, total=20))

    run.assert_state("FAILED")
    assert flows.UNDONE == [13]


def test_an_error_takes_the_branch_for_it() -> None:
    run = flows.careful.run_here(flows.Order(id=7, total=-1))

    run.assert_state("SUCCESS")
    assert "nothing to pay" in str(run.output)


def test_a_large_order_waits_for_a_person() -> None:
    run = flows.fulfil.run_here(flows.Order(id=7, total=2000))

    run.assert_state("RUNNING")


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the workflows of these tests the declared ones."""
    monkeypatch.setattr(publishing, "DECLARED", flows.DECLARED)


def test_only_what_changed_makes_a_version(django_assert_num_queries: Any) -> None:
    first = publish(flows.fulfil)
    with django_assert_num_queries(1):
        again = publish(flows.fulfil)

    assert (first.created, first.number) == (True, 1)
    assert (again.created, again.version_id) == (False, first.version_id)


@pytest.mark.parametrize(("fact", "value"), [("effect", "none"), ("outcomes", ("paid", "owed"))])
def test_a_fact_of_a_step_that_changes_what_runs_makes_a_version(
    monkeypatch: pytest.MonkeyPatch, fact: str, value: Any
) -> None:
    first = publish(flows.careful)
    monkeypatch.setattr(type(flows.note.__valkyr_module__), fact, value)
    monkeypatch.delitem(_registry._described, flows.note.type)

    second = publish(flows.careful)
    monkeypatch.undo()
    _registry._described.pop(flows.note.type)
    back = publish(flows.careful)

    assert (second.number, second.created) == (2, True)
    assert (back.version_id, back.created) == (first.version_id, False)


def test_one_query_tells_that_nothing_changed(django_assert_num_queries: Any) -> None:
    first = publish_all()
    with django_assert_num_queries(1):
        again = publish_all()

    assert {slug: one.version_id for slug, one in first.items()} == {
        slug: one.version_id for slug, one in again.items()
    }


def test_a_step_that_live_versions_run_may_not_leave_the_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publish(flows.fulfil)
    kept = checks.module_names() - {flows.ship.type}
    monkeypatch.setattr(checks, "module_names", lambda: kept)

    (found,) = checks.removed_steps(databases=["default"])

    assert "'fulfil'" in found.msg
    assert flows.ship.type in found.msg
    assert "version 1" in found.msg
    assert f"@step({flows.ship.type!r})" in str(found.hint)
    assert checks.removed_steps(databases=None) == []


def test_a_step_that_undoes_counts_as_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    publish(flows.fulfil)
    kept = checks.module_names() - {flows.refund.type}
    monkeypatch.setattr(checks, "module_names", lambda: kept)

    assert [
        flows.refund.type in one.msg for one in checks.removed_steps(databases=["default"])
    ] == [True]


def test_a_step_of_an_open_dead_letters_version_may_not_leave_the_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = publish(flows.fulfil)
    workflow = Workflow.objects.get(pk=old.workflow_id)
    entry = fail(workflow, step="ship.main")
    newest = dict(flows.careful.definition)
    publish_from_code(workflow.slug, newest, origin=workflow.origin)
    kept = checks.module_names() - {flows.ship.type}
    monkeypatch.setattr(checks, "module_names", lambda: kept)

    (found,) = checks.removed_steps(databases=["default"])
    DeadLetterEntry.objects.filter(pk=entry.pk).update(
        resolution="DISCARDED", resolved_at=database_now()
    )

    assert "version 1" in found.msg
    assert flows.ship.type in found.msg
    assert checks.removed_steps(databases=["default"]) == []


def test_migrate_publishes_and_the_command_tells_what_is_current() -> None:
    call_command("migrate", verbosity=0)
    assert Workflow.objects.get(slug="fulfil").origin == f"{flows.__name__}:fulfil"

    said = StringIO()
    call_command("publish_workflows", stdout=said)

    assert said.getvalue().startswith("0 published")
    assert not any(version.created for version in publish_all().values())


def test_a_start_vanishes_with_the_callers_transaction() -> None:
    publish(flows.fulfil)

    with transaction.atomic():
        flows.fulfil.start(order=flows.Order(id=7, total=1))
        assert WorkflowExecution.objects.exists()
        transaction.set_rollback(True)
    assert not WorkflowExecution.objects.exists()

    handle = flows.fulfil.start(order=flows.Order(id=7, total=1), key="order-7")
    same = flows.fulfil.start(order=flows.Order(id=7, total=1), key="order-7")

    assert handle.id == same.id
    assert WorkflowExecution.objects.get().trigger_payload["id"] == 7


def test_many_start_in_one_transaction() -> None:
    handles = flows.fulfil.start_many([flows.Order(id=n, total=1) for n in range(3)])

    assert len({handle.id for handle in handles}) == 3
