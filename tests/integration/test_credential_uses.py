"""Each use of a credential by a step is recorded, whether allowed or rejected, without an
additional statement.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from dlq.retention import pruning
from executions import credentials
from executions.credentials import UsingStep, uses
from executions.database.ids import uuid7
from executions.models import Credential, CredentialUse, Workflow, Workspace
from tests.support.credential_steps import asks, own_credentials, quiet_world, ran
from tests.support.engine_database import engine_database
from tests.support.kept_facts import facts_are_kept
from tests.support.partner import Partner
from tests.support.round_trips import round_trips
from tests.support.segments import run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, publish, start, task

TOKEN = "t0ken-of-the-bank"
FROM_INPUT = "{{ input.url }}"


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with quiet_world(monkeypatch) as quiet:
        yield quiet


@pytest.fixture
def workspace(engine: None) -> Iterator[Workspace]:
    with own_credentials() as own:
        yield own


@pytest.fixture
def bank() -> Iterator[Partner]:
    server = Partner()
    yield server
    server.stop()


def keep(workspace: Workspace, *hosts: str, **more: Any) -> Credential:
    given: dict[str, Any] = {"type": "bearer", "fields": {"token": TOKEN}, "hosts": hosts} | more
    return credentials.create(workspace, name="bank", actor=ACTOR, **given)


def at(server: Partner) -> str:
    return f"127.0.0.1:{server.server_port}"


def published_before(workspace: Workspace, *tasks: dict[str, Any]) -> Workflow:
    """Publish a workflow of these tasks while a credential was allowed everything."""
    open_one = keep(workspace, "*", modules=["*"])
    workflow = publish({"tasks": list(tasks)})
    Credential.objects.filter(pk=open_one.pk).delete()
    return workflow


def only_use(execution: UUID) -> CredentialUse:
    return CredentialUse.objects.get(execution_id=execution)


def test_a_use_names_the_step_the_version_and_the_host(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    kept = keep(workspace, at(bank))
    kept = credentials.update(kept.pk, actor=ACTOR, description="Again.")
    workflow = publish({"tasks": [asks(FROM_INPUT)]})

    execution = ran(queue, workflow, {"url": f"{bank.url}/echo?token=of-the-payload"})

    use = only_use(execution)
    run = run_of(execution, "ask.main")
    assert run.state == "SUCCESS"
    assert (use.allowed, use.reason) == (True, "")
    assert (use.workspace_id, use.workflow_id) == (workspace.pk, workflow.pk)
    assert (use.credential_id, use.name, use.version) == (kept.pk, "bank", 2)
    assert (use.run_id, use.step_path, use.attempt) == (run.pk, "ask.main", 1)
    assert (use.module, use.host, use.remote) == ("http.request", at(bank), False)
    kept.refresh_from_db()
    assert kept.last_used_at is not None
    assert timezone.now() - use.created_at < timedelta(minutes=1)


def test_a_use_names_the_host_of_an_address_with_a_secret_in_its_query(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    keep(workspace, at(bank))
    given = {"url": f"{bank.url}/echo?key={{{{ secrets.bank.token }}}}"}

    execution = ran(queue, publish({"tasks": [task("ask", "http.request", **{"with": given})]}))

    assert run_of(execution, "ask.main").state == "SUCCESS"
    assert only_use(execution).host == at(bank)


def test_every_credential_of_a_step_is_a_use(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    keep(workspace, at(bank))
    credentials.create(
        workspace, name="extra", type="secret", fields={"value": TOKEN}, hosts=["*"], actor=ACTOR
    )
    given = {"url": bank.url, "headers": {"x": "{{ secrets.extra }}"}}

    execution = ran(queue, publish({"tasks": [asks(FROM_INPUT, **{"with": given})]}))

    found = CredentialUse.objects.filter(execution_id=execution)
    assert sorted(found.values_list("name", "host")) == [("bank", at(bank)), ("extra", at(bank))]


def test_a_step_outside_of_the_boundary_is_a_refused_use(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    workflow = published_before(workspace, asks(FROM_INPUT))
    kept = keep(workspace, at(bank), modules=["graphql.*"])

    execution = ran(queue, workflow, {"url": bank.url})

    use = only_use(execution)
    assert (use.allowed, use.credential_id) == (False, kept.pk)
    assert 'steps of type http.request may not use the credential "bank"' in use.reason
    assert bank.received == []


def test_a_connection_outside_of_the_boundary_is_a_refused_use(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    keep(workspace, at(bank))
    attacker = Partner()
    workflow = publish({"tasks": [asks(FROM_INPUT)]})
    elsewhere = f"{bank.url}/redirect?code=302&to={attacker.url}/"

    execution = ran(queue, workflow, {"url": elsewhere})
    attacker.stop()

    allowed, refused = CredentialUse.objects.filter(execution_id=execution).order_by("-allowed")
    assert (allowed.allowed, allowed.host) == (True, at(bank))
    assert (refused.allowed, refused.host) == (False, at(attacker))
    assert "may not be sent to" in refused.reason
    assert attacker.received == []


def test_a_credential_that_does_not_exist_is_a_refused_use(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    workflow = published_before(workspace, asks(FROM_INPUT))

    execution = ran(queue, workflow, {"url": bank.url})

    use = only_use(execution)
    assert (use.allowed, use.credential_id, use.name) == (False, None, "bank")
    assert "does not have" in use.reason


def test_a_missing_field_is_a_refused_use(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    given = {"url": bank.url, "headers": {"x": "{{ secrets.bank.password }}"}}
    step = task("ask", "http.request", retry="none", **{"with": given})
    workflow = published_before(workspace, step)
    keep(workspace, at(bank))

    execution = ran(queue, workflow)

    use = only_use(execution)
    assert (use.allowed, use.host) == (False, at(bank))
    assert 'needs the field "password"' in use.reason
    assert TOKEN not in use.reason


def test_a_use_costs_no_statement_and_a_step_without_secrets_nothing(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    keep(workspace, at(bank))
    plain = publish({"tasks": [task("ask", "http.request", **{"with": {"url": bank.url}})]})
    secret = publish({"tasks": [asks(bank.url)]})
    counts = []
    with facts_are_kept():
        for workflow in (plain, secret):
            ran(queue, workflow)
        for workflow in (plain, secret):
            execution = start(workflow)
            with round_trips() as asked:
                queue.drain()
            assert run_of(execution, "ask.main").state == "SUCCESS"
            counts.append(len(asked))

    # The one statement that reads the credential.
    assert counts[1] - counts[0] == 1
    assert CredentialUse.objects.count() == 2


def using(workspace: Workspace, **more: Any) -> UsingStep:
    given: dict[str, Any] = {"path": "ask.main", "attempt": 1, "module": "http.request"} | more
    return UsingStep(workspace.pk, uuid4(), uuid4(), uuid4(), **given)


def test_reading_and_recording_is_one_round_trip_also_when_the_use_is_noted(
    queue: World, workspace: Workspace
) -> None:
    kept = keep(workspace, "api.example.com")

    with round_trips() as asked:
        found = credentials.opened_for(using(workspace), ["bank", "unknown"])

    assert len(asked) == 1
    assert found.keys() == {"bank"}
    assert found["bank"].fields == {"token": TOKEN}
    assert CredentialUse.objects.get(credential_id=kept.pk).host == "api.example.com"
    with round_trips() as asked:
        assert credentials.opened_for(using(workspace), []) == {}
    assert len(asked) == 0


def test_a_credential_that_is_being_changed_is_read_without_waiting(
    queue: World, workspace: Workspace
) -> None:
    from django.db import connection

    kept = keep(workspace, "*")
    rival = connection.copy()
    rival.set_autocommit(False)
    try:
        with rival.cursor() as cursor:
            cursor.execute("UPDATE executions_credential SET version = 2 WHERE id = %s", [kept.pk])
        found = credentials.opened_for(using(workspace), ["bank"])
    finally:
        rival.rollback()
        rival.close()

    assert found["bank"].version == 1
    kept.refresh_from_db()
    assert kept.last_used_at is None
    assert CredentialUse.objects.filter(credential_id=kept.pk).count() == 1


def test_the_settings_of_the_session_stay(queue: World, workspace: Workspace) -> None:
    from django.db import connection

    keep(workspace, "*")
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")

    credentials.opened_for(using(workspace), ["bank"])

    with connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)
        cursor.execute("RESET synchronous_commit")


def test_uses_are_summarised_by_workflow(queue: World, workspace: Workspace, bank: Partner) -> None:
    workflows = [published_before(workspace, asks(FROM_INPUT)) for _ in range(2)]
    kept = keep(workspace, at(bank), workflows=[str(workflows[0].pk)])
    for workflow in (*workflows, workflows[0]):
        ran(queue, workflow, {"url": bank.url})

    found = {one.workflow_id: one for one in uses.by_workflow(kept)}

    assert {pk: (one.many, one.refused) for pk, one in found.items()} == {
        workflows[0].pk: (2, 0),
        workflows[1].pk: (1, 1),
    }
    assert found[workflows[0].pk].name == workflows[0].name
    assert [one.workflow_id for one in uses.refused(kept)] == [workflows[1].pk]


def test_uses_outlive_their_credential_and_go_after_their_days(
    queue: World, workspace: Workspace, bank: Partner
) -> None:
    kept = keep(workspace, "*")
    for _ in range(2):
        credentials.opened_for(using(workspace), ["bank"])
    old = CredentialUse.objects.order_by("id")[0]
    ninety = timezone.now() - timedelta(days=91)
    aged = UUID(int=(int(ninety.timestamp() * 1000) << 80) | (uuid7().int & ((1 << 80) - 1)))
    CredentialUse.objects.filter(pk=old.pk).update(id=aged, created_at=ninety)
    Credential.objects.filter(pk=kept.pk).delete()
    assert CredentialUse.objects.count() == 2

    assert pruning.turn().counts["credential uses"] == 1
    assert CredentialUse.objects.count() == 1
