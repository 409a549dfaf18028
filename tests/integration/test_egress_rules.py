"""Steps of a workspace with egress rules, executed as by workers; rules on publishing; no
additional queries.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions.accounts.workspaces import change_workspace
from executions.egress import workspace_rules
from executions.errors import InvalidDefinition
from executions.models import Activity, Workspace
from tests.support.engine_database import engine_database
from tests.support.partner import Partner
from tests.support.segments import run_of
from tests.support.single_thread import World, world
from tests.support.workflows import ACTOR, default_workspace, publish, start, task


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


@pytest.fixture
def workspace(engine: None) -> Iterator[Workspace]:
    made = default_workspace()
    yield made
    allow(made)


@pytest.fixture
def partner() -> Iterator[Partner]:
    server = Partner()
    yield server
    server.stop()


def allow(workspace: Workspace, *hosts: str) -> None:
    change_workspace(workspace.pk, {"egress_hosts": list(hosts)}, actor=ACTOR)


ASK = task("ask", "http.request", **{"with": {"url": "{{ input.url }}"}, "retry": "none"})


def test_a_step_connects_to_allowed_hosts_alone(
    queue: World, workspace: Workspace, partner: Partner
) -> None:
    workflow = publish({"tasks": [ASK]})
    allow(workspace, "api.example.com")
    refused = start(workflow, {"url": partner.url})
    queue.drain()
    allow(workspace, f"127.0.0.1:{partner.server_port}")
    done = start(workflow, {"url": partner.url})
    queue.drain()

    run = run_of(refused, "ask.main")
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert f'"{workspace.slug}" does not allow connections to 127.0.0.1:' in run.error
    assert run_of(done, "ask.main").state == "SUCCESS"
    assert len(partner.received) == 1


def test_the_installations_default_applies_to_a_workspace_without_rules(
    queue: World, workspace: Workspace, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_EGRESS_ALLOW", "api.example.com")
    workflow = publish({"tasks": [ASK]})
    refused = start(workflow, {"url": partner.url})
    queue.drain()
    allow(workspace, "*")
    done = start(workflow, {"url": partner.url})
    queue.drain()

    assert "VALKYR_EGRESS_ALLOW allows api.example.com" in run_of(refused, "ask.main").error
    assert run_of(done, "ask.main").state == "SUCCESS"


def test_an_address_that_is_written_out_is_refused_at_publishing(
    engine: None, workspace: Workspace
) -> None:
    allow(workspace, "*.example.com")
    fixed = task("ask", "http.request", **{"with": {"url": "https://api.evil.example/{{ 1 }}"}})

    publish({"tasks": [ASK]})
    with pytest.raises(InvalidDefinition) as caught:
        publish({"tasks": [fixed]})

    [found] = caught.value.problems
    assert (found.code, found.path) == ("egress_refused", "tasks[0].with.url")
    assert "api.evil.example:443" in found.message


def test_steps_read_the_rules_once_in_five_seconds(engine: None, workspace: Workspace) -> None:
    workspace_rules.forget(workspace.pk)
    with CaptureQueriesContext(connection) as queries:
        for _ in range(50):
            workspace_rules.rules_of(workspace.pk)

    assert len(queries) == 1


def test_a_change_is_audited_with_both_lists(engine: None, workspace: Workspace) -> None:
    allow(workspace, "b.example", "A.example")

    row = Activity.objects.filter(action="workspace.update").latest("pk")
    assert (row.before["egressHosts"], row.after["egressHosts"]) == (
        [],
        ["a.example", "b.example"],
    )
