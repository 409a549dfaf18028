"""Tasks of Django's framework on real workers: transactions, repair, time, order and kills."""

import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone
from django_tasks import TaskResult
from django_tasks.exceptions import TaskResultDoesNotExist

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions.access.actor import Actor
from executions.models import Tier, Workspace
from tests.plugins.task_backend import tasks
from tests.support.engine_database import engine_database
from tests.support.fleet import QUICK, Fleet, redis_of_a_fleet
from tests.support.waiting import wait_until

ACTOR = Actor.system("tests")
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.plugins.task_backend.project"}


@pytest.fixture(scope="module")
def fleet(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    with engine_database(django_db_blocker), redis_of_a_fleet() as server:
        made = Fleet(tmp_path_factory.mktemp("fleet"), server.url, QUICK | SETTINGS)
        made.few(io=True)
        with made.running():
            yield made


def ended(result: TaskResult[Any], seconds: float = 40) -> TaskResult[Any]:
    def is_over() -> bool:
        result.refresh()
        return result.is_finished

    wait_until(is_over, seconds, f"the end of {result}")
    return result


def test_a_task_runs_once_its_transaction_commits_and_never_without(fleet: Fleet) -> None:
    with transaction.atomic():
        kept = tasks.double.enqueue(3)
        urgent = tasks.urgent.enqueue()
    with transaction.atomic():
        lost = tasks.double.enqueue(4)
        transaction.set_rollback(True)

    assert ended(kept).return_value == 6
    assert ended(urgent).return_value == "done"
    assert kept.worker_ids[0].startswith("default@")
    assert urgent.worker_ids[0].startswith("io@")
    with pytest.raises(TaskResultDoesNotExist):
        tasks.double.get_result(lost.id)


def test_attempts_are_rows_and_async_tasks_run(fleet: Fleet) -> None:
    flaky, later = tasks.flaky.enqueue(2), tasks.later.enqueue(1)

    assert (ended(flaky).return_value, flaky.attempts, len(flaky.errors)) == (3, 3, 2)
    assert ended(later).return_value == 2


def test_a_dead_letter_that_is_sent_on_makes_the_result_successful(fleet: Fleet) -> None:
    result = ended(tasks.broken.enqueue("bad"))
    assert (result.status, result.attempts) == ("FAILED", 1)
    letter = DeadLetterEntry.objects.get(execution_id=result.id)

    requeue(letter.pk, actor=ACTOR, overrides={"args": ["good"]}, reason="typo")

    assert (ended(result).status, result.return_value, result.attempts) == ("SUCCESSFUL", "good", 2)
    assert len(result.errors) == 1


def test_a_deferred_task_begins_at_its_time(fleet: Fleet) -> None:
    after = timezone.now() + timedelta(seconds=2)

    result = ended(tasks.double.using(run_after=after).enqueue(5))

    assert result.return_value == 10
    assert result.started_at >= after


def test_tasks_that_wait_for_a_place_begin_in_the_order_of_priority(
    fleet: Fleet, tmp_path: Path
) -> None:
    tier = Tier.objects.create(name=f"one-{uuid4().hex[:8]}", max_concurrent=1)
    Workspace.objects.get_or_create(slug="narrow", defaults={"name": "narrow", "tier": tier})
    order = tmp_path / "order"
    append = tasks.append.using(backend="narrow")

    with transaction.atomic():
        made = [
            append.using(priority=priority).enqueue(str(order), str(priority))
            for priority in (-50, 0, 100, 30, -100)
        ]

    for result in made:
        assert ended(result).status == "SUCCESSFUL"
    assert order.read_text().split() == ["100", "30", "0", "-50", "-100"]


def test_a_task_whose_process_and_worker_are_killed_ends_all_the_same(
    fleet: Fleet, tmp_path: Path
) -> None:
    held, mark = tmp_path / "held", tmp_path / "mark"
    held.touch()
    result = tasks.held.enqueue(str(held), str(mark))
    wait_until(mark.exists, 20, "the task's beginning")
    result.refresh()
    assert result.status == "RUNNING"

    os.kill(int(mark.read_text().split()[0]), signal.SIGKILL)
    wait_until(lambda: len(mark.read_text().split()) == 2, 30, "a second beginning")
    fleet["default"].kill()
    held.unlink()
    fleet.ensure()

    assert ended(result, 60).status == "SUCCESSFUL"
    assert len(mark.read_text().split()) >= 2
