"""Outputs at and beyond the limits are stored faithfully, or cause a clear permanent error."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.engine_database import engine_database
from tests.support.modules import ODD
from tests.support.single_thread import world
from tests.support.workflows import effect, publish, start, task


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


def ended(monkeypatch: pytest.MonkeyPatch, kind: str) -> tuple[WorkflowExecution, Run]:
    tasks = [task("odd", "test.odd", **{"with": {"kind": kind}}), effect("after", "odd")]
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish({"tasks": tasks}))
        quiet.drain()
    run = Run.objects.get(execution_id=execution, step_path="odd.main")
    return WorkflowExecution.objects.get(pk=execution), run


def test_a_mebibyte_is_stored_faithfully(engine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    execution, run = ended(monkeypatch, "large")
    assert (execution.state, run.state) == ("SUCCESS", "SUCCESS")
    assert run.outputs == ODD["large"]()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("too large", "52,428,802 bytes"),
        ("nan", "cannot be stored as JSON"),
        ("nul", "NUL character"),
        ("surrogate", "lone surrogate"),
        ("deep", "nested too deeply"),
        ("bytes", "cannot be stored as JSON"),
    ],
)
def test_what_cannot_be_stored_fails_the_step_for_good_and_says_why(
    engine: None, monkeypatch: pytest.MonkeyPatch, kind: str, said: str
) -> None:
    execution, run = ended(monkeypatch, kind)
    assert (execution.state, run.state, run.error_type) == ("FAILED", "DLQ", "PERMANENT")
    assert said in run.error
    assert "output of step odd.main" in run.error
    assert said in execution.error_message
