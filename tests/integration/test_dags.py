"""Real graphs of 22 to 197 tasks run in the right order, as no-op steps and as effects."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.engine_database import engine_database
from tests.support.real_graphs import NAMES, real_graph
from tests.support.single_thread import world
from tests.support.workflows import publish, start


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.mark.parametrize("use", ["flow.noop", "test.effect"])
@pytest.mark.parametrize("name", NAMES)
def test_a_real_graph_runs_to_its_end_in_order(
    engine: None, monkeypatch: pytest.MonkeyPatch, name: str, use: str
) -> None:
    document = real_graph(name, use)
    with world(Random(name), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish(document))
        quiet.drain()
    assert WorkflowExecution.objects.get(pk=execution).state == "SUCCESS"
    runs = Run.objects.filter(execution_id=execution)
    assert runs.count() == len(document["tasks"])
    assert {(run.state, run.attempt) for run in runs} == {("SUCCESS", 1)}
    audit([execution])


@pytest.mark.parametrize("name", NAMES)
def test_a_real_graph_ends_though_workers_die_and_messages_get_lost(
    engine: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rng = Random(name)
    document = real_graph(
        name,
        "test.effect",
        **{"with": lambda number: {"failTimes": rng.choice([0, 0, 0, 1, 2])}},
        retry=lambda number: {"maxAttempts": 3, "baseSeconds": 0.05},
    )
    with world(rng, monkeypatch, lose=0.05, double=0.05, die=0.01) as wild:
        execution = start(publish(document))
        wild.run(execution, turns=20_000)
        wild.drain()
    assert WorkflowExecution.objects.get(pk=execution).state == "SUCCESS"
    audit([execution])
