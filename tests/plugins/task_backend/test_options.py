"""Tests of the backend's settings: their meaning, and the mistakes that `check` finds."""

import sys
from typing import Any

import pytest
from django.test import override_settings
from django_tasks import task_backends
from django_tasks.exceptions import InvalidTaskBackendError

from executions.models import WorkflowExecution
from executions.public.starting import start_from_code
from runners.testing import check_bad_inputs, failing_module
from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.plugins.task_backend import tasks
from tests.plugins.task_backend.project import BACKEND
from valkyr_plugins.task_backend.django_task import DjangoTask
from valkyr_plugins.task_backend.options import engine_priority


def found(**params: Any) -> list[str]:
    with override_settings(TASKS={"default": {"BACKEND": BACKEND, **params}}):
        return [message.id for message in task_backends["default"].check()]


def test_the_defaults_have_nothing_wrong() -> None:
    assert found() == []
    assert found(OPTIONS={"retry": "standard", "timeout": 5, "queues": {"a": "io"}}) == []


@pytest.mark.parametrize(
    "options",
    [
        {"retry": "often"},
        {"retry": {"maxAttempts": 0}},
        {"retry": {"attempts": 3}},
        {"timeout": 601},
        {"timeout": "long"},
        {"workspace": "two words"},
        {"unknown": 1},
    ],
)
def test_wrong_options_are_found_and_enqueue_nothing(options: dict[str, Any]) -> None:
    with override_settings(TASKS={"default": {"BACKEND": BACKEND, "OPTIONS": options}}):
        assert "valkyr_task_backend.E002" in {one.id for one in task_backends["default"].check()}
        with pytest.raises(InvalidTaskBackendError, match="default"):
            tasks.double.enqueue(1)


@pytest.mark.parametrize("queue", ["control", "two words"])
def test_queues_that_no_task_may_have_are_found(queue: str) -> None:
    assert "valkyr_task_backend.E003" in found(QUEUES=[queue])


def test_a_queue_that_needs_a_worker_of_its_own_is_told() -> None:
    assert found(QUEUES=["slow"]) == ["valkyr_task_backend.I001"]
    assert found(QUEUES=["slow"], OPTIONS={"queues": {"slow": "default"}}) == []


def test_a_setting_of_older_releases_is_told_to_have_no_effect() -> None:
    assert found(ENQUEUE_ON_COMMIT=False) == ["valkyr_task_backend.W001"]


def test_priorities_grow_with_those_of_the_framework() -> None:
    ours = [engine_priority(number) for number in range(-100, 101)]

    assert ours == sorted(ours)
    assert set(ours) == set(range(10))


@pytest.mark.django_db
def test_the_step_runs_nothing_that_was_not_enqueued() -> None:
    check_bad_inputs(DjangoTask())
    drawn = {"id": "a", "use": "django.task", "with": {"path": tasks.double.module_path}}

    run = Valkyr().start({"tasks": [drawn]})

    run.assert_state("FAILED")
    assert "was not enqueued" in run.dead_letters["a.main"]
    # The path of a module that tests would notice.
    failure = failing_module("django.task", {"path": "tests.plugins.task_backend.notice.task"})
    assert "was not enqueued" in failure.message
    assert "tests.plugins.task_backend.notice" not in sys.modules


@pytest.mark.django_db
def test_a_payload_or_a_fix_cannot_choose_another_task() -> None:
    made = tasks.double.enqueue(1)
    execution = WorkflowExecution.objects.get(pk=made.id)
    other = execution.trigger_payload | {"path": tasks.stubborn.module_path}

    for payload in (other, {"args": [1]}, None, 7):
        handle = start_from_code(execution.workflow_id, payload)
        WorkflowRun(handle.id).carry().assert_state("FAILED")
