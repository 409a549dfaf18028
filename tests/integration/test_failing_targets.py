"""The record of a dead step: its target, the target's answer, and the name of the failure."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from dlq.models import DeadLetterEntry
from runners.models import Run
from tests.support.engine_database import engine_database
from tests.support.single_thread import World, world
from tests.support.workflows import effect, publish, start, task


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


def test_a_dead_letter_says_what_its_step_talked_to(queue: World) -> None:
    # An address that steps may not reach: rejected before anything is sent.
    given = {"url": "http://127.0.0.1:9/orders/17"}
    execution = start(publish({"tasks": [task("call", "http.request", **{"with": given})]}))
    queue.drain()

    letter = DeadLetterEntry.objects.get(execution_id=execution)
    assert letter.target == "127.0.0.1:9"
    assert Run.objects.get(pk=letter.run_id).error_details["target"] == "127.0.0.1:9"


def test_failures_that_a_module_gives_one_name_are_one_group(queue: World) -> None:
    version = publish(
        {"tasks": [effect("charge", errorType="PERMANENT", failTimes=9, named="{{ input.name }}")]}
    )
    executions = [start(version, {"name": name}) for name in ("declined", "declined", "lost")]
    queue.drain()

    letters = [DeadLetterEntry.objects.get(execution_id=pk) for pk in executions]
    assert letters[0].group_id == letters[1].group_id != letters[2].group_id
    assert Run.objects.get(pk=letters[0].run_id).error_details["fingerprint"] == "declined"
