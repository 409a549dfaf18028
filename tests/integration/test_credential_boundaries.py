"""Steps get a credential only within its boundary, even if a user changed their inputs."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import credentials
from executions.models import Credential, Workspace
from runners.repair.forks import Overrides
from tests.support import gossip
from tests.support.engine_database import engine_database
from tests.support.partner import Partner
from tests.support.segments import run_of
from tests.support.single_thread import World, world
from tests.support.workflows import ACTOR, default_workspace, publish, start, task
from valkyr_plugins.timetravel.fork import fork

TOKEN = "t0ken-of-the-bank"


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        gossip.register()
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    gossip.heard.clear()
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


@pytest.fixture
def workspace(engine: None) -> Iterator[Workspace]:
    yield default_workspace()
    Credential.objects.all().delete()


@pytest.fixture
def bank() -> Iterator[Partner]:
    server = Partner()
    yield server
    server.stop()


@pytest.fixture
def attacker() -> Iterator[Partner]:
    server = Partner()
    yield server
    server.stop()


def keep(workspace: Workspace, *hosts: str, **more: Any) -> Credential:
    given: dict[str, Any] = {"type": "bearer", "fields": {"token": TOKEN}, "hosts": hosts} | more
    return credentials.create(workspace, name="bank", actor=ACTOR, **given)


def published_before(workspace: Workspace, *tasks: dict[str, Any]) -> Any:
    """Publish a workflow of these tasks while a credential was allowed everything."""
    open_one = keep(workspace, "*", modules=["*"])
    workflow = publish({"tasks": list(tasks)})
    Credential.objects.filter(pk=open_one.pk).delete()
    return workflow


def at(server: Partner) -> str:
    return f"127.0.0.1:{server.server_port}"


def asks(**more: Any) -> dict[str, Any]:
    given = {"with": {"url": "{{ input.url }}"}, "credential": "bank", "retry": "none"}
    return task("ask", "http.request", **(given | more))


def ended(queue: World, *tasks: dict[str, Any], payload: Any = None) -> UUID:
    execution = start(publish({"tasks": list(tasks)}), payload)
    queue.drain()
    return execution


def refused(execution: UUID, path: str = "ask.main") -> str:
    run = run_of(execution, path)
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    return str(run.error)


@pytest.mark.parametrize(
    "step",
    [
        asks(),
        asks(
            credential=None,
            **{"with": {"url": "{{ input.url }}", "headers": {"x": "{{ secrets.bank.token }}"}}},
        ),
    ],
    ids=["credential", "secret in a header"],
)
def test_a_credential_goes_to_its_hosts_and_no_other(
    queue: World, workspace: Workspace, bank: Partner, attacker: Partner, step: dict[str, Any]
) -> None:
    keep(workspace, at(bank))
    step = {key: value for key, value in step.items() if value is not None}

    well = ended(queue, step, payload={"url": bank.url})
    badly = ended(queue, step, payload={"url": attacker.url})

    assert run_of(well, "ask.main").state == "SUCCESS"
    assert TOKEN in str(bank.received[0]["headers"])
    assert f'"bank" may not be sent to {at(attacker)}, only to {at(bank)}.' in refused(badly)
    assert attacker.received == []


def test_neither_a_requeue_nor_a_fork_leads_a_credential_elsewhere(
    queue: World, workspace: Workspace, bank: Partner, attacker: Partner
) -> None:
    keep(workspace, at(bank))
    origin = ended(queue, asks(), payload={"url": f"{bank.url}/status?code=400"})
    entry = DeadLetterEntry.objects.get(execution_id=origin)

    requeue(entry.pk, actor=ACTOR, overrides={"url": attacker.url})
    queue.drain()
    changed = Overrides(steps={"ask.main": {"url": attacker.url}})
    by_step = fork(origin, actor=ACTOR, overrides=changed).pk
    queue.drain()
    by_input = fork(origin, actor=ACTOR, overrides=Overrides(input={"url": attacker.url}))
    queue.drain()

    assert "may not be sent to" in refused(by_step)
    assert "may not be sent to" in refused(by_input.pk)
    assert attacker.received == []


def test_another_workflow_and_another_module_get_no_credential(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    allowed = published_before(workspace, asks())
    kept = keep(workspace, at(bank), workflows=[str(allowed.pk)])

    mine = start(allowed, {"url": bank.url})
    queue.drain()
    assert run_of(mine, "ask.main").state == "SUCCESS"

    credentials.update(kept.pk, actor=ACTOR, modules=["graphql.*"])
    again = start(allowed, {"url": bank.url})
    queue.drain()
    assert 'steps of type http.request may not use the credential "bank"' in refused(again)


def test_a_workflow_that_is_not_named_gets_no_credential(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    allowed, other = (published_before(workspace, asks()) for _ in range(2))
    keep(workspace, at(bank), workflows=[str(allowed.pk)])

    theirs = start(other, {"url": bank.url})
    queue.drain()

    assert 'this workflow may not use the credential "bank"' in refused(theirs)
    assert bank.received == []


def test_a_module_that_judges_no_hosts_needs_to_be_named(
    queue: World, workspace: Workspace
) -> None:
    step = task("tell", "test.gossip", **{"with": {"value": "x", "ways": []}, "retry": "none"})
    step["credential"] = "bank"
    flow = published_before(workspace, step)
    kept = keep(
        workspace, "api.example.com", type="basic", fields={"username": "u", "password": TOKEN}
    )

    first = start(flow)
    queue.drain()
    credentials.update(kept.pk, actor=ACTOR, modules=["test.*"])
    second = start(flow)
    queue.drain()
    credentials.update(kept.pk, actor=ACTOR, modules=["test.gossip"])
    third = start(flow)
    queue.drain()

    assert "cannot check where test.gossip sends it" in refused(first, "tell.main")
    assert "cannot check" in refused(second, "tell.main")
    assert run_of(third, "tell.main").state == "SUCCESS"
    assert len(gossip.heard) == 1


def test_a_restricted_secret_is_not_written_to_a_file(queue: World, workspace: Workspace) -> None:
    given = {"path": "file://a.txt", "content": "{{ secrets.bank.token }}"}
    step = task("ask", "file.write", retry="none", **{"with": given})
    flow = published_before(workspace, step)
    keep(workspace, "api.example.com")

    execution = start(flow)
    queue.drain()

    assert "cannot check where file.write sends it" in refused(execution)


def test_a_restricted_secret_names_no_file(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    given = {"url": "{{ input.url }}", "saveTo": "{{ secrets.bank.token }}.txt"}
    step = task("ask", "http.request", retry="none", **{"with": given})
    flow = published_before(workspace, step)
    keep(workspace, at(bank))

    execution = start(flow, {"url": bank.url})
    queue.drain()

    assert "cannot check where http.request sends it" in refused(execution)
    assert bank.received == []


def test_revealing_costs_one_query_boundary_included(
    queue: World, workspace: Workspace, bank: Partner, django_assert_num_queries: Callable[..., Any]
) -> None:
    keep(workspace, at(bank))
    credentials.opened_of(workspace.pk, ["bank"])

    with django_assert_num_queries(1):
        found = credentials.opened_of(workspace.pk, ["bank"])

    assert found["bank"].boundary.hosts == (at(bank),)
