"""The backend follows the Tasks framework's documented behaviour; the kit runs the executions."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.utils import timezone
from django_tasks import TaskResult, TaskResultStatus, default_task_backend, task_backends
from django_tasks.exceptions import (
    InvalidTaskError,
    TaskResultDoesNotExist,
    TaskResultMismatch,
)
from django_tasks.signals import task_enqueued, task_finished, task_started

from executions.models import Workflow, WorkflowExecution
from executions.payloads import STORED
from executions.sealing import payload_keys
from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.plugins.task_backend import tasks
from tests.support.payload_store import TEXT, use_store
from valkyr_plugins.task_backend import publishing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _kit(db: None) -> None:
    assert Valkyr().workspace


def ended(result: TaskResult[Any]) -> TaskResult[Any]:
    """The result when the kit has run the execution as far as possible."""
    WorkflowRun(UUID(result.id)).carry()
    result.refresh()
    return result


@pytest.fixture
def heard() -> Iterator[list[tuple[str, str, Any]]]:
    """The framework's signals, in the order in which they were sent."""
    found: list[tuple[str, str, Any]] = []

    def listen(name: str) -> Any:
        def hear(sender: type, task_result: Any, **_: Any) -> None:
            found.append((name, str(task_result.status), sender.__name__))

        return hear

    named = {"enqueued": task_enqueued, "started": task_started, "finished": task_finished}
    ears = {name: listen(name) for name in named}
    for name, signal in named.items():
        signal.connect(ears[name])
    yield found
    for name, signal in named.items():
        signal.disconnect(ears[name])


def test_it_supports_all_that_the_framework_knows() -> None:
    backend = task_backends["default"]

    assert backend.supports_defer
    assert backend.supports_async_task
    assert backend.supports_get_result
    assert backend.supports_priority


def test_a_result_is_ready_then_successful() -> None:
    result = tasks.double.enqueue(21)
    assert (result.status, result.is_finished, result.attempts) == ("READY", False, 0)
    assert result.enqueued_at is not None
    assert (result.started_at, result.finished_at, result.errors) == (None, None, [])
    with pytest.raises(ValueError, match="not finished"):
        _ = result.return_value

    ended(result)

    assert (result.status, result.return_value, result.attempts) == ("SUCCESSFUL", 42, 1)
    assert result.started_at == result.last_attempted_at
    assert result.enqueued_at <= result.started_at <= result.finished_at
    assert len(result.id) <= 64
    assert result.worker_ids == [result.worker_ids[0]]


def test_a_result_is_found_by_its_id() -> None:
    made = ended(tasks.double.using(priority=7).enqueue(1))

    found = tasks.double.get_result(made.id)

    assert (found.return_value, found.args, found.kwargs) == (2, [1], {})
    assert (found.task.priority, found.task.queue_name, found.backend) == (7, "default", "default")
    assert default_task_backend.get_result(made.id) == found
    with pytest.raises(TaskResultMismatch):
        tasks.broken.get_result(made.id)


@pytest.mark.parametrize("unknown", ["00000000-0000-4000-8000-000000000007", "no id", ""])
def test_an_unknown_id_has_no_result(unknown: str) -> None:
    with pytest.raises(TaskResultDoesNotExist):
        default_task_backend.get_result(unknown)


def test_an_execution_of_a_workflow_or_of_another_backend_has_no_result() -> None:
    run = Valkyr().start({"tasks": [{"id": "a", "use": "flow.noop"}]})
    other = tasks.stubborn.enqueue()

    for pk in (str(run.id), other.id):
        with pytest.raises(TaskResultDoesNotExist):
            default_task_backend.get_result(pk)


def test_arguments_make_a_round_trip_through_json() -> None:
    result = tasks.given.enqueue(1, (2, 3), b"four", five={"six": [None, True, 1.5]})

    assert (result.args, result.kwargs) == (
        [1, [2, 3], "four"],
        {"five": {"six": [None, True, 1.5]}},
    )
    assert ended(result).return_value == [[1, [2, 3], "four"], {"five": {"six": [None, True, 1.5]}}]


def test_templates_in_arguments_stay_text() -> None:
    assert ended(tasks.given.enqueue("{{ input.path }}")).return_value == [["{{ input.path }}"], {}]


@pytest.mark.parametrize("value", [object(), timezone.now(), {1, 2}])
def test_arguments_that_are_no_json_are_refused_and_nothing_is_enqueued(value: Any) -> None:
    with pytest.raises(TypeError):
        tasks.given.enqueue(value)

    assert not WorkflowExecution.objects.exists()


def test_what_is_returned_must_be_json() -> None:
    result = ended(tasks.no_json.enqueue())

    assert result.status == "FAILED"
    assert result.errors[0].exception_class is TypeError


def test_a_failure_tells_the_exception_and_its_traceback() -> None:
    result = ended(tasks.broken.enqueue("bad"))

    assert (result.status, result.is_finished, result.attempts) == ("FAILED", True, 1)
    [error] = result.errors
    assert error.exception_class is ValueError
    assert "cannot take bad" in error.traceback
    assert "in broken" in error.traceback
    with pytest.raises(ValueError, match="failed"):
        _ = result.return_value


def test_an_async_task_runs_and_can_be_enqueued_and_read_async() -> None:
    async def through() -> tuple[str, int]:
        made = await tasks.later.aenqueue(1)
        found = await tasks.later.aget_result(made.id)
        await found.arefresh()
        return found.id, found.attempts

    pk, attempts = async_to_sync(through)()

    assert attempts == 0
    assert ended(tasks.later.get_result(pk)).return_value == 2


def test_a_task_may_take_its_context() -> None:
    result = tasks.told.enqueue("hello")

    assert ended(result).return_value == ["hello", 1, result.id, "RUNNING", 1]


def test_each_attempt_is_told_and_a_later_success_counts() -> None:
    result = tasks.flaky.enqueue(2)
    run = WorkflowRun(UUID(result.id)).carry()
    result.refresh()
    assert (result.status, result.attempts, len(result.errors)) == ("READY", 1, 1)

    run.advance_time().advance_time()
    result.refresh()

    assert (result.status, result.return_value, result.attempts) == ("SUCCESSFUL", 3, 3)
    assert [error.exception_class for error in result.errors] == [KeyError, KeyError]
    assert result.started_at < result.last_attempted_at


def test_what_is_not_named_is_tried_again_only_where_it_passes_by_itself() -> None:
    stubborn = ended(tasks.stubborn.enqueue())
    cut = tasks.lost_line.enqueue()
    WorkflowRun(UUID(cut.id)).carry()
    cut.refresh()

    assert (stubborn.status, stubborn.attempts) == ("FAILED", 1)
    assert (cut.status, cut.errors[0].exception_class) == ("READY", ConnectionResetError)


def test_a_deferred_task_waits_for_its_time() -> None:
    after = timezone.now() + timedelta(days=30)
    result = tasks.double.using(run_after=after).enqueue(4)
    run = WorkflowRun(UUID(result.id)).carry()
    result.refresh()
    assert (result.status, result.attempts, result.started_at) == ("READY", 0, None)
    assert tasks.double.get_result(result.id).task.run_after == after

    run.advance_time(timedelta(days=29)).assert_state("RUNNING")
    run.advance_time(timedelta(days=2)).assert_state("SUCCESS")

    result.refresh()
    assert result.return_value == 8


@pytest.mark.parametrize(
    ("priority", "ours"),
    [(-100, 0), (-81, 0), (-80, 1), (-1, 4), (0, 5), (1, 6), (25, 6), (26, 7), (100, 9)],
)
def test_priorities_keep_their_order(priority: int, ours: int) -> None:
    result = tasks.double.using(priority=priority).enqueue(1)

    assert WorkflowExecution.objects.get(pk=result.id).priority == ours


def test_a_queue_is_the_engines_of_that_name_or_the_one_it_is_mapped_to() -> None:
    for made, queue in (
        (tasks.urgent.enqueue(), "io"),
        (tasks.stubborn.using(queue_name="mails").enqueue(), "io"),
        (tasks.stubborn.using(queue_name="slow").enqueue(), "slow"),
    ):
        run = WorkflowExecution.objects.get(pk=made.id).runs.get()
        assert run.queue == queue


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"queue_name": "unknown"}, "not valid"),
        ({"priority": 101}, "priority"),
        ({"run_after": timezone.now() + timedelta(days=400)}, "365 days"),
        ({"backend": "patient", "queue_name": "control"}, "the engine reserves"),
        ({"backend": "patient", "queue_name": "no name"}, "letters, digits"),
    ],
)
def test_a_task_that_could_not_run_as_asked_is_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidTaskError, match=says):
        tasks.double.using(**changed)


def test_a_task_that_workers_would_not_find_is_refused() -> None:
    with pytest.raises(InvalidTaskError, match="is not a task but function"):
        tasks.renamed.enqueue(1)


def test_signals_tell_of_a_task_that_ends_well(
    heard: Any, django_capture_on_commit_callbacks: Any
) -> None:
    result = tasks.double.enqueue(1)
    with django_capture_on_commit_callbacks(execute=True):
        ended(result)

    assert heard == [
        ("enqueued", "READY", "Backend"),
        ("started", "RUNNING", "Backend"),
        ("finished", "SUCCESSFUL", "Backend"),
    ]


def test_signals_tell_of_the_end_alone_where_attempts_fail(
    heard: Any, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = WorkflowRun(UUID(tasks.flaky.enqueue(9).id)).carry()
        run.advance_time().advance_time().assert_state("FAILED")

    assert [name for name, *_ in heard] == ["enqueued", "started", "started", "started", "finished"]
    assert heard[-1] == ("finished", "FAILED", "Backend")


def test_a_cancelled_task_has_failed() -> None:
    from executions.public.starting import Handle

    result = tasks.double.using(run_after=timezone.now() + timedelta(days=1)).enqueue(4)
    Handle(UUID(result.id)).cancel()

    result.refresh()

    assert result.status == TaskResultStatus.FAILED
    assert result.errors[0].exception_class.__name__ == "CancelledError"


def test_a_task_that_is_enqueued_in_a_transaction_vanishes_with_it() -> None:
    with transaction.atomic():
        result = tasks.double.enqueue(1)
        transaction.set_rollback(True)

    with pytest.raises(TaskResultDoesNotExist):
        tasks.double.get_result(result.id)


def test_a_workflow_whose_publication_was_rolled_back_is_published_again() -> None:
    with transaction.atomic():
        tasks.double.enqueue(1)
        transaction.set_rollback(True)

    assert ended(tasks.double.enqueue(2)).return_value == 4


@pytest.mark.django_db(transaction=True)
def test_a_process_publishes_a_task_once_and_notices_when_it_is_gone(
    django_assert_max_num_queries: Any,
) -> None:
    publishing._published.clear()
    tasks.double.enqueue(1)
    assert len(publishing._published) == 1
    tasks.double.using(priority=3).enqueue(2)
    assert len(publishing._published) == Workflow.objects.count() == 1

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE executions_workflow CASCADE")

    assert tasks.double.enqueue(3).status == "READY"


@pytest.mark.django_db(transaction=True)
def test_large_arguments_are_in_the_payload_store(settings: Any, tmp_path: Path) -> None:
    use_store(settings, tmp_path)
    payload_keys.forget()

    result = ended(tasks.given.enqueue(TEXT, more=[1]))

    assert result.status == TaskResultStatus.SUCCESSFUL
    assert result.args == [TEXT]
    assert TEXT in str(result.return_value)
    execution = WorkflowExecution.objects.get(pk=result.id)
    assert execution.trigger_payload[STORED]
