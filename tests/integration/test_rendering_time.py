"""Rendering belongs to the step: the step's time limit ends it, with the step's TIMEOUT."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.engine_database import engine_database
from tests.support.single_thread import world
from tests.support.workflows import effect, publish, start, task

# About a second of work, within a worker's limit.
HEAVY = ["{{ range(99000) | map('string') | map('upper') | list | sort | length }}"] * 4
NESTED = "[[[[[1] * 100] * 100] * 100] * 100] * 100"


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


def ended(monkeypatch: pytest.MonkeyPatch, *tasks: Any, at: str) -> Run:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish({"tasks": list(tasks)}))
        quiet.drain()
    return Run.objects.get(execution_id=execution, step_path=at)


@pytest.mark.parametrize("before", [[], [task("before", "data.set", **{"with": {"values": {}}})]])
@pytest.mark.parametrize("use", ["data.set", "effect"])
def test_a_template_that_outlasts_its_step_times_it_out(
    engine: None, monkeypatch: pytest.MonkeyPatch, use: str, before: list[Any]
) -> None:
    after = [one["id"] for one in before]
    limits = {"timeoutSeconds": 0.1, "retry": {"maxAttempts": 1}}
    heavy = (
        effect("heavy", *after, value=HEAVY)
        if use == "effect"
        else task("heavy", use, *after, **{"with": {"values": {"a": HEAVY}}})
    )

    run = ended(monkeypatch, *before, heavy | limits, at="heavy.main")

    assert (run.state, run.error_type) == ("DLQ", "TIMEOUT")
    assert "heavy.main" in run.error
    assert "rendering" in run.error


def test_an_output_has_the_budget_of_what_plans_for_all_workspaces(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish({"tasks": [effect("one")], "output": HEAVY}))
        quiet.drain()

    ended = WorkflowExecution.objects.get(pk=execution)
    assert ended.state == "FAILED"
    assert "output could not be rendered" in ended.error_message
    # On a slow machine, its half second of CPU ends first.
    allowed = ("more work than a control process allows", "rendering took more than 0.5 s")
    assert any(reason in ended.error_message for reason in allowed)


def test_a_template_that_compares_too_much_fails_its_step_for_good(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = effect("compared", value=f"{{{{ ({NESTED}) == ({NESTED}) }}}}")

    run = ended(monkeypatch, compared | {"timeoutSeconds": 5}, at="compared.main")

    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert "too many values" in run.error or "more work" in run.error
