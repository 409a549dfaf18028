"""Workflows and starts from code: published by content, and read-only for users."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction

from executions.access.actor import Actor
from executions.errors import InvalidDefinition, NotFound, WrongState
from executions.models import Activity, Workflow, WorkflowExecution, WorkflowVersion
from executions.public.publishing import (
    CodeDefinition,
    code_workspace,
    publish_from_code,
    publish_many_from_code,
    versioning,
)
from executions.public.starting import (
    ExecutionFailed,
    Handle,
    start_from_code,
    start_many_from_code,
)
from executions.publishing.taking_over import NotFromCode, take_over
from tests.support.waiting import wait_until
from tests.support.workflows import default_workspace

ACTOR = Actor.system("test")
ORIGIN = "shop.flows:fulfil"
NOOP = {"schema": "valkyr/1", "name": "Fulfil", "tasks": [{"id": "a", "use": "flow.noop"}]}
OTHER = NOOP | {"tasks": [{"id": "b", "use": "flow.noop"}]}


@pytest.fixture(autouse=True)
def _workspace(db: None) -> None:
    default_workspace()


def at_once(action: Callable[[], Any], times: int = 4) -> list[Any]:
    """Run the action in several threads at the same moment; return the results or errors."""
    gate, results = threading.Barrier(times), []

    def run() -> None:
        try:
            gate.wait(timeout=60)
            results.append(action())
        except Exception as error:
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return results


def test_equal_content_makes_no_version_and_asks_one_query(
    django_assert_num_queries: Any,
) -> None:
    first = publish_from_code("fulfil", NOOP, origin=ORIGIN)
    workspace = code_workspace()

    with django_assert_num_queries(1):
        again = publish_from_code("fulfil", dict(NOOP), origin=ORIGIN, workspace=workspace)

    assert (first.created, again.created) == (True, False)
    assert (again.version_id, again.number) == (first.version_id, 1)


def test_content_of_an_earlier_version_makes_that_one_the_latest() -> None:
    first = publish_from_code("fulfil", NOOP, origin=ORIGIN)
    second = publish_from_code("fulfil", OTHER, origin=ORIGIN)

    back = publish_from_code("fulfil", NOOP, origin=ORIGIN)

    assert (second.number, back.version_id, back.created) == (2, first.version_id, False)
    row = Workflow.objects.get(pk=first.workflow_id)
    assert (row.latest_version_id, row.definition) == (first.version_id, NOOP)


@pytest.mark.django_db(transaction=True)
def test_many_processes_publish_one_version_together() -> None:
    default_workspace()

    found = at_once(lambda: publish_from_code("fulfil", NOOP, origin=ORIGIN))

    assert sum(one.created for one in found) == 1
    assert len({one.version_id for one in found}) == 1
    assert WorkflowVersion.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_many_processes_publish_batches_that_overlap_without_a_deadlock() -> None:
    default_workspace()
    publish_from_code("w05", OTHER, origin="m:w05")
    said = [CodeDefinition(f"w{n:02}", NOOP, f"m:w{n:02}") for n in range(20)]
    parts = iter([said, said[::-1], said[5:15], said[:8]])

    found = at_once(lambda: publish_many_from_code(next(parts)))

    assert all(isinstance(one, dict) for one in found), found
    assert sum(version.created for one in found for version in one.values()) == len(said)
    assert WorkflowVersion.objects.count() == len(said) + 1


def test_a_definition_with_problems_leaves_nothing_behind() -> None:
    with pytest.raises(InvalidDefinition):
        publish_from_code("fulfil", NOOP | {"tasks": [{"id": "a"}]}, origin=ORIGIN)
    with pytest.raises(InvalidDefinition):
        publish_from_code("fulfil", {"tasks": 1}, origin=ORIGIN)

    assert not Workflow.objects.filter(slug="fulfil").exists()


def test_a_slug_of_a_person_or_of_other_code_is_refused() -> None:
    versioning.create_workflow(
        code_workspace(), name="F", slug="hers", definition=NOOP, actor=ACTOR
    )
    publish_from_code("fulfil", NOOP, origin=ORIGIN)

    with pytest.raises(versioning.SlugTaken, match="belongs to a person"):
        publish_from_code("hers", NOOP, origin=ORIGIN)
    with pytest.raises(versioning.SlugTaken, match=ORIGIN):
        publish_from_code("fulfil", OTHER, origin="other.flows:fulfil")


def test_people_may_switch_a_workflow_from_code_and_change_nothing_else() -> None:
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN)

    def change(**changes: Any) -> Workflow:
        return versioning.update_workflow(
            made.workflow_id, changes, actor=ACTOR, expected_revision=None
        )

    assert not change(enabled=False).enabled
    with pytest.raises(versioning.FromCode, match=ORIGIN):
        change(definition=OTHER)
    with pytest.raises(versioning.FromCode):
        versioning.publish(made.workflow_id, actor=ACTOR)


def test_a_workflow_from_code_is_taken_over_as_a_copy_under_a_free_slug() -> None:
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN, line=42)

    first, second = (take_over(made.workflow_id, actor=ACTOR) for _ in range(2))

    assert (first.slug, first.name, first.origin) == ("fulfil-copy", "Fulfil (copy)", "")
    assert (second.slug, second.latest_version_id) == ("fulfil-copy-2", None)
    assert first.definition == NOOP | {"name": "Fulfil (copy)"}
    lines = Activity.objects.filter(action="workflow.take_over", object_id=made.workflow_id)
    assert {line.details["copy"] for line in lines} == {str(first.pk), str(second.pk)}
    source = Workflow.objects.get(pk=made.workflow_id)
    assert (source.origin_place, source.revision) == (f"{ORIGIN}, line 42", 1)


def test_a_persons_workflow_is_not_taken_over_and_a_taken_slug_is_refused() -> None:
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN)
    hers = versioning.create_workflow(
        code_workspace(), name="F", slug="hers", definition=NOOP, actor=ACTOR
    )

    with pytest.raises(NotFromCode):
        take_over(hers.pk, actor=ACTOR)
    with pytest.raises(versioning.SlugTaken):
        take_over(made.workflow_id, actor=ACTOR, slug="hers")
    assert not Activity.objects.filter(action="workflow.take_over").exists()


def test_a_start_from_code_gives_a_handle() -> None:
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN)

    handle = start_from_code(made.workflow_id, {"order": 1}, key="o1")
    again = start_from_code(made.workflow_id, {"order": 1}, key="o1")

    assert (handle, handle.state) == (again, "RUNNING")
    handle.cancel("not wanted")
    assert handle.state == "CANCELLED"
    with pytest.raises(ExecutionFailed, match="CANCELLED"):
        handle.output()
    with pytest.raises(WrongState):
        handle.cancel()


def test_a_start_may_name_a_version_of_its_workflow() -> None:
    first = publish_from_code("fulfil", NOOP, origin=ORIGIN)
    second = publish_from_code("fulfil", OTHER, origin=ORIGIN)
    foreign = publish_from_code("other", NOOP, origin=ORIGIN)

    [one, two] = start_many_from_code(first.workflow_id, [1, 2], version_id=first.version_id)
    newest = start_from_code(first.workflow_id, 3)

    rows = dict(WorkflowExecution.objects.values_list("pk", "version_id"))
    assert rows[one.id] == rows[two.id] == first.version_id
    assert rows[newest.id] == second.version_id
    with pytest.raises(NotFound):
        start_from_code(first.workflow_id, 3, version_id=foreign.version_id)


def test_more_than_a_thousand_starts_are_refused() -> None:
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN)

    assert start_many_from_code(made.workflow_id, []) == []
    with pytest.raises(ValueError, match="1001"):
        start_many_from_code(made.workflow_id, [None] * 1_001)


def test_waiting_for_an_output_inside_a_transaction_is_refused() -> None:
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN)
    with transaction.atomic():
        handle = start_from_code(made.workflow_id, None)

        with pytest.raises(transaction.TransactionManagementError, match="atomic"):
            handle.output(timeout=5)


def connections_open() -> int:
    """Return the number of connections to this process's database, including this one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_awaiting_handles_leaves_no_connection_open() -> None:
    default_workspace()
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN)
    handles = start_many_from_code(made.workflow_id, [None] * 3)

    async def main() -> list[Any]:
        waiting = asyncio.gather(*handles, return_exceptions=True)
        await asyncio.sleep(0)
        for handle in handles:
            await sync_to_async(closing(handle.cancel), thread_sensitive=False)()
        return await waiting

    before = connections_open()
    ended = asyncio.run(main())

    assert {type(one) for one in ended} == {ExecutionFailed}
    wait_until(lambda: connections_open() == before, 5, "closed connections")


def closing(action: Callable[[], Any]) -> Callable[[], Any]:
    """Return the action for a separate thread, followed by closing the thread's connection."""

    def act() -> Any:
        try:
            return action()
        finally:
            connection.close()

    return act


@pytest.mark.django_db(transaction=True)
def test_waiting_for_an_output_ends_after_its_timeout() -> None:
    default_workspace()
    made = publish_from_code("fulfil", NOOP, origin=ORIGIN)
    handle = Handle(start_from_code(made.workflow_id, None).id)

    with pytest.raises(TimeoutError):
        handle.output(timeout=0)
