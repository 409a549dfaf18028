"""The customer, the key or the ID of a start decides its version, at every entry point."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from executions.models import Workflow, WorkflowExecution, WorkflowVersion
from executions.publishing import rollout, versioning
from executions.triggers.canary_share import takes_canary
from executions.triggers.from_code import start_from_code, start_many_from_code
from executions.triggers.request import ParentRun
from executions.triggers.start import owe_execution, start_batch, start_child, start_execution
from tests.support.workflows import ACTOR, publish, task

CUSTOMERS = [f"customer-{number}" for number in range(200)]
SETTINGS = {"concurrency": {"key": "{{ input.customer }}", "limit": 100}}


def document(steps: int) -> dict[str, Any]:
    return {"settings": SETTINGS, "tasks": [task(f"step{number}") for number in range(steps)]}


@pytest.fixture
def workflow(db: None) -> Workflow:
    """Return a workflow whose canary, version 2, gets half of the starts."""
    made = publish(document(1))
    with_canary(made, 50)
    made.refresh_from_db()
    return made


def with_canary(of: Workflow, percent: float) -> WorkflowVersion:
    definition = of.definition | document(2)
    of.refresh_from_db()
    versioning.update_workflow(
        of.pk, {"definition": definition}, actor=ACTOR, expected_revision=None
    )
    return versioning.publish(of.pk, actor=ACTOR, percent=percent)


def numbers(executions: Sequence[WorkflowExecution]) -> dict[str, int]:
    return {one.trigger_payload["customer"]: version(one.pk) for one in executions}


def version(pk: UUID) -> int:
    return WorkflowExecution.objects.values_list("version__number", flat=True).get(pk=pk)


@given(st.uuids(), st.floats(0.01, 99), st.text(max_size=40))
def test_a_larger_share_keeps_the_keys_of_a_smaller_one(of: UUID, share: float, key: str) -> None:
    assert takes_canary(of, share, key) <= takes_canary(of, share + 1, key)


def test_a_share_is_as_large_as_asked() -> None:
    one = uuid4()
    taken = sum(takes_canary(one, 5, str(number)) for number in range(20_000))

    assert 800 < taken < 1_200
    assert all(takes_canary(one, 100, str(number)) for number in range(1_000))


def test_a_customer_stays_on_one_side(workflow: Workflow) -> None:
    first = numbers(start_batch(workflow, [{"customer": one} for one in CUSTOMERS], actor=ACTOR))
    again = {
        one: version(start_execution(workflow, {"customer": one}, actor=ACTOR).execution.pk)
        for one in CUSTOMERS[:40]
    }

    assert set(first.values()) == {1, 2}
    assert 60 < list(first.values()).count(2) < 140
    assert again == {one: first[one] for one in again}


def test_every_entry_point_agrees_on_a_customer(workflow: Workflow) -> None:
    for customer in CUSTOMERS[:6]:
        payload = {"customer": customer}
        origin = start_execution(workflow, payload, actor=ACTOR).execution
        parent = ParentRun(origin.pk, 0, "MANUAL", 5)
        started = [
            start_execution(workflow, payload, actor=ACTOR, idempotency_key=customer).execution.pk,
            start_from_code(workflow.pk, payload).id,
            start_many_from_code(workflow.pk, [payload])[0].id,
            start_child(workflow, payload, parent=parent, key=f"c{customer}", actor=ACTOR).pk,
            owe_execution(
                workflow, payload, actor=ACTOR, failure_of=origin, key=f"o{customer}", reason="it"
            ).pk,
        ]

        assert {version(pk) for pk in started} == {version(origin.pk)}


def test_a_batch_keeps_its_order_and_says_which_took_the_share(workflow: Workflow) -> None:
    payloads = [{"customer": one} for one in CUSTOMERS]

    made = start_batch(workflow, payloads, actor=ACTOR)

    assert [one.trigger_payload for one in made] == payloads
    rows = WorkflowExecution.objects.filter(pk__in=[one.pk for one in made])
    assert rows.filter(canary=True).count() == rows.filter(version__number=2).count() > 0
    assert not rows.filter(canary=True).exclude(version__number=2).exists()


def test_a_given_version_is_not_shared_out(workflow: Workflow) -> None:
    made = start_batch(workflow, [{"customer": one} for one in CUSTOMERS], actor=ACTOR, version=1)

    assert {one.version_id for one in made} == {workflow.latest_version_id}
    assert not any(one.canary for one in made)


def test_without_a_key_an_execution_is_its_own_customer(db: None) -> None:
    made = publish({"tasks": [task("a")]})
    versioning.update_workflow(
        made.pk,
        {"definition": made.definition | {"tasks": [task("a"), task("b")]}},
        actor=ACTOR,
        expected_revision=None,
    )
    canary = versioning.publish(made.pk, actor=ACTOR, percent=50)
    made.refresh_from_db()

    for one in start_batch(made, [None] * 60, actor=ACTOR):
        assert one.canary == takes_canary(canary.pk, 50, str(one.pk))


def test_a_canary_costs_a_start_no_query(db: None) -> None:
    made = publish(document(1))

    def queries() -> int:
        made.refresh_from_db()
        start_execution(made, {"customer": "warm"}, actor=ACTOR)
        with CaptureQueriesContext(connection) as found:
            start_execution(made, {"customer": "one"}, actor=ACTOR)
        return len(found)

    before = queries()
    with_canary(made, 100)

    assert queries() == before


def test_after_a_stop_all_starts_take_the_latest_version(workflow: Workflow) -> None:
    assert workflow.canary_version_id is not None
    assert rollout.withdraw(workflow.pk, workflow.canary_version_id)
    workflow.refresh_from_db()

    made = start_batch(workflow, [{"customer": one} for one in CUSTOMERS], actor=ACTOR)

    assert set(numbers(made).values()) == {1}
