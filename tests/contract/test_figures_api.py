"""Figures over HTTP: numbers by slot, percentiles, queues, and the permissions for them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.models import Workflow, Workspace
from runners.models import Runner
from tests.support import admin_rows as rows
from tests.support.figure_rows import ended

pytestmark = [pytest.mark.django_db, pytest.mark.plugins]


@pytest.fixture
def workflow(workspace: Workspace) -> Workflow:
    return rows.workflow(owner=workspace)


def figures(client: APIClient, **query: Any) -> Any:
    answer = client.get("/v1/Figures", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize(("name", "slots"), [("1h", 12), ("24h", 24), ("7d", 28), ("14d", 28)])
def test_a_range_has_numbers_in_all_and_by_slot(
    author: APIClient, workflow: Workflow, name: str, slots: int
) -> None:
    now = database_now()
    ended(workflow, "SUCCESS", now, took=2.0, waited=0.1)
    ended(workflow, "FAILED", now, took=4.0, waited=0.1)

    found = figures(author, range=name)

    assert (found["range"], len(found["slots"])) == (name, slots)
    assert found["slotSeconds"] * slots == {"1h": 1, "24h": 24, "7d": 168, "14d": 336}[name] * 3_600
    total = found["total"]
    assert (total["created"], total["succeeded"], total["failed"]) == (2, 1, 1)
    assert (total["failureRate"], total["deadLetters"]) == (0.5, 1)
    assert total["durationMs"]["p50"] == pytest.approx(2_000, rel=0.13)
    assert total["dispatchMs"]["count"] == 2
    assert sum(slot["succeeded"] for slot in found["slots"]) == 1
    assert found["before"]["failureRate"] is None


def test_what_waits_now_is_told_by_queue(author: APIClient, workflow: Workflow) -> None:
    Runner.objects.create(name="io@box", host="box", pid=1, pool="threads", queues=["io"])
    live = rows.execution(workflow)
    rows.execution(workflow, "PENDING")
    rows.run(live, state="PENDING", queue="gpu", started_at=None)
    rows.failed_order(workflow)

    found = figures(author)

    assert (found["running"], found["waiting"], found["openDeadLetters"]) == (1, 1, 1)
    queues = {queue["name"]: (queue["waiting"], queue["workers"]) for queue in found["queues"]}
    assert queues == {"gpu": (1, 0), "io": (0, 1)}


def test_figures_narrow_to_a_workspace_and_a_workflow(
    author: APIClient, workflow: Workflow, elsewhere: Workspace
) -> None:
    other = rows.workflow("other", owner=workflow.workspace)
    theirs = rows.workflow("theirs", owner=elsewhere)
    for of in (workflow, other, theirs):
        ended(of, "SUCCESS", database_now())
        rows.failed_order(of)

    def seen(**query: Any) -> tuple[int, int]:
        found = figures(author, **query)
        return found["total"]["succeeded"], found["openDeadLetters"]

    assert seen() == seen(workspaceId=workflow.workspace_id) == (2, 2)
    assert seen(workflowId=workflow.pk) == (1, 1)
    assert seen(workspaceId=elsewhere.pk) == (0, 0)
    assert seen(workspaceId=elsewhere.pk, workflowId=workflow.pk) == (0, 0)
    assert author.get("/v1/Figures", {"workflowId": theirs.pk}).status_code == 404
    assert author.get("/v1/Figures", {"workflowId": uuid7()}).status_code == 404


def test_who_may_not_see_executions_gets_nothing_of_them(
    member: Callable[..., Any], client_of: Callable[[Any], APIClient], workflow: Workflow
) -> None:
    ended(workflow, "SUCCESS", database_now())
    program = client_of(member("SYSTEM"))

    assert figures(program)["total"]["succeeded"] == 0
    assert program.get("/v1/Figures", {"workflowId": workflow.pk}).status_code == 403


@pytest.mark.parametrize(
    "query", [{"range": "2h"}, {"workflowId": "x"}, {"workspaceId": ""}, {"since": "now"}]
)
def test_a_query_that_is_not_known_is_refused(author: APIClient, query: dict[str, str]) -> None:
    assert author.get("/v1/Figures", query).status_code == 422


def test_figures_that_take_too_long_are_a_503(
    author: APIClient, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(*_: Any) -> None:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")

    monkeypatch.setattr("executions.database.time_limits.PATIENCE_MS", 20)
    monkeypatch.setattr("valkyr_plugins.figures.api.read", sleep)

    assert author.get("/v1/Figures").status_code == 503


def test_an_open_circuit_of_the_workspace_is_counted(
    author: APIClient, workflow: Workflow, elsewhere: Workspace
) -> None:
    from valkyr_plugins.circuits.models import CircuitBreaker

    later = database_now() + timedelta(minutes=1)
    for place in (workflow.workspace, elsewhere):
        CircuitBreaker.objects.create(
            workspace=place, target="http.request:x.test", state="OPEN", next_retry_at=later
        )

    assert figures(author)["openCircuits"] == 1


def test_without_circuits_none_is_open(author: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runners.ports.open_circuits._function", None)

    assert figures(author)["openCircuits"] == 0
