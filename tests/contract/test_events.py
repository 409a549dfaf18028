"""Events are published once and start the workflows with a trigger; failed starts are listed."""

import threading
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from rest_framework.test import APIClient

from executions import events
from executions.access.actor import Actor
from executions.models import Activity, Event, Tier, Workflow, WorkflowExecution, Workspace
from executions.publishing.versioning import archive_workflow
from executions.triggers import event as triggers
from executions.triggers.sync import switch
from tests.support.json_schemas import ORDERS, doubling, order
from tests.support.triggers import NAMED, only_trigger, publish_again, triggered
from tests.support.workflows import ACTOR

pytestmark = pytest.mark.django_db

ORDER = {"type": "EVENT", "event": "order.created"}
LARGE = {**ORDER, "filter": "{{ event.total > 100 }}"}


@pytest.fixture
def system(member: Any, client_of: Any) -> APIClient:
    """Return the client of a system that publishes events."""
    client: APIClient = client_of(member("SYSTEM"))
    return client


def tell(client: APIClient, name: str = "order.created", **more: Any) -> Any:
    return client.post("/v1/Event", {"name": name, **more}, format="json")


def test_an_event_starts_every_workflow_that_listens_for_it(
    system: APIClient, workspace: Workspace
) -> None:
    listening = [triggered(ORDER), triggered(ORDER, {"type": "EVENT", "event": "order.paid"})]
    triggered({"type": "EVENT", "event": "order.create"})
    triggered({"type": "WEBHOOK"})

    answer = tell(system, payload={"total": 7}, id="o-7")

    assert answer.status_code == 202, answer.content
    executions = WorkflowExecution.objects.order_by("id")
    event = Event.objects.get()
    assert answer.json() == {
        "id": str(event.pk),
        "eventId": "o-7",
        "executions": [str(execution.pk) for execution in executions],
        "refused": [],
    }
    assert answer["Location"] == f"/v1/Event/{event.pk}"
    assert [execution.workflow_id for execution in executions] == [w.pk for w in listening]
    for execution in executions:
        assert execution.trigger_type == "EVENT"
        assert execution.trigger_payload == {"total": 7}
        assert execution.idempotency_key == f"event:{event.pk}:{execution.trigger_id}"
    audit = Activity.objects.get(action="event.publish")
    assert audit.details["started"] == 2
    assert audit.actor_name == "system-default"


def test_an_event_told_again_does_nothing_and_answers_as_before(system: APIClient) -> None:
    triggered(ORDER)
    first = tell(system, payload={"total": 1}, id="o-1")
    triggered(ORDER)

    second = tell(system, payload={"total": 2}, id="o-1")

    assert second.status_code == 200
    assert second.json() == first.json()
    assert WorkflowExecution.objects.count() == Event.objects.count() == 1


def test_events_without_an_id_are_all_different(system: APIClient) -> None:
    triggered(ORDER)

    answers = [tell(system) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert all(answer.json()["eventId"] == answer.json()["id"] for answer in answers)
    assert WorkflowExecution.objects.count() == 2


def test_the_same_id_in_another_workspace_is_another_event(
    system: APIClient, elsewhere: Workspace, member: Any, client_of: Any
) -> None:
    triggered(ORDER)
    there = triggered(ORDER, workspace=elsewhere)
    assert tell(system, id="o-1").status_code == 202

    answer = tell(client_of(member("SYSTEM", elsewhere)), id="o-1")

    assert answer.status_code == 202
    assert WorkflowExecution.objects.filter(workflow=there).count() == 1
    assert WorkflowExecution.objects.count() == 2


@pytest.mark.parametrize(
    ("text", "payload", "starts"),
    [
        ("{{ event.total > 100 }}", {"total": 101}, True),
        ("{{ event.total > 100 }}", {"total": 100}, False),
        ("{{ event.kind }}", {"kind": "no"}, False),
        ("{{ event.kind }}", {"kind": "yes"}, True),
        ("{{ event.lines }}", {"lines": []}, False),
        ("{{ event is none }}", None, True),
        ("{{ 'vip' in event.tags }}", {"tags": ["vip"]}, True),
    ],
)
def test_a_filter_decides_who_is_meant(
    system: APIClient, text: str, payload: Any, starts: bool
) -> None:
    triggered({**ORDER, "filter": text})

    answer = tell(system, payload=payload)

    assert len(answer.json()["executions"]) == int(starts), answer.content
    assert answer.json()["refused"] == []


def test_what_cannot_start_is_named_and_stops_nobody_else(system: APIClient) -> None:
    fine = triggered(ORDER)
    off = triggered(ORDER)
    Workflow.objects.filter(pk=off.pk).update(enabled=False)
    strict = triggered(ORDER, input=NAMED)
    filtered = triggered(LARGE)
    last = triggered(ORDER)

    answer = tell(system, payload={"sum": 1}).json()

    started = WorkflowExecution.objects.filter(pk__in=answer["executions"])
    assert {execution.workflow_id for execution in started} == {fine.pk, last.pk}
    refused = {UUID(one["workflowId"]): one for one in answer["refused"]}
    assert {pk: one["code"] for pk, one in refused.items()} == {
        off.pk: "workflow_disabled",
        strict.pk: "invalid_payload",
        filtered.pk: "filter_failed",
    }
    assert "name" in refused[strict.pk]["message"]
    assert "total" in refused[filtered.pk]["message"]


def test_a_full_workspace_refuses_its_workflows_and_keeps_the_event(
    tier: Tier, member: Any, client_of: Any
) -> None:
    small = Tier.objects.create(name="small", max_concurrent=1, max_pending=0)
    workspace = Workspace.objects.create(slug="small", name="Small", tier=small)
    for _ in range(2):
        triggered(ORDER, workspace=workspace)

    answer = tell(client_of(member("SYSTEM", workspace)))

    assert answer.status_code == 202
    assert len(answer.json()["executions"]) == 1
    assert [one["code"] for one in answer.json()["refused"]] == ["quota_exceeded"]


def test_triggers_that_are_off_or_gone_stay_silent(system: APIClient) -> None:
    switched, gone, archived = (triggered(ORDER) for _ in range(3))
    switch(only_trigger(switched).pk, enabled=False, actor=ACTOR)
    publish_again(gone)
    archive_workflow(archived.pk, actor=ACTOR)

    answer = tell(system)

    assert answer.json()["executions"] == answer.json()["refused"] == []


def test_so_many_workflows_start_by_one_event_and_no_more(
    system: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triggers, "MAX_TRIGGERS", 2)
    for _ in range(3):
        triggered(ORDER)

    answer = tell(system).json()

    assert len(answer["executions"]) == 2
    assert [one["code"] for one in answer["refused"]] == ["too_many_triggers"]


def test_whoever_waits_for_events_is_told_within_the_transaction(system: APIClient) -> None:
    seen: list[tuple[UUID, bool]] = []

    def receive(event_id: UUID, **_: Any) -> None:
        stored = Event.objects.get(pk=event_id)
        seen.append((event_id, bool(stored.started) and connection.in_atomic_block))

    triggered(ORDER)
    events.event_received.connect(receive)
    try:
        answer = tell(system, id="o-1")
        tell(system, id="o-1")
    finally:
        events.event_received.disconnect(receive)

    assert seen == [(UUID(answer.json()["id"]), True)]


def test_a_failure_of_who_listens_leaves_nothing(system: APIClient, workspace: Workspace) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("no")

    triggered(ORDER)
    events.event_received.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            triggers.publish_event(workspace, "order.created", {}, actor=Actor.system("test"))
    finally:
        events.event_received.disconnect(fail)

    assert WorkflowExecution.objects.count() == Event.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_an_event_told_by_two_at_once_happens_once(workspace: Workspace) -> None:
    triggered(ORDER)
    gate = threading.Barrier(4)
    found: list[bool] = []

    def tell_it() -> None:
        try:
            gate.wait(timeout=60)
            told = triggers.publish_event(
                workspace, "order.created", {}, actor=ACTOR, event_id="o-1"
            )
            found.append(told.created)
        finally:
            connection.close()

    threads = [threading.Thread(target=tell_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert sorted(found) == [False, False, False, True]
    assert WorkflowExecution.objects.count() == Event.objects.count() == 1


def test_the_triggers_of_an_event_share_one_budget_for_checks_and_who_is_left_is_named(
    system: APIClient,
) -> None:
    costly = [triggered(ORDER, input=doubling(12)) for _ in range(20)]
    plain = triggered(ORDER)

    answer = tell(system, payload={"a": 1})

    started = WorkflowExecution.objects.values_list("workflow_id", flat=True)
    refused = {one["workflowId"]: one for one in answer.json()["refused"]}
    assert plain.pk in started, "it has no schema to check"
    assert 1 < len(started) < 10
    assert {str(workflow.pk) for workflow in costly} == {
        *refused,
        *(str(pk) for pk in started if pk != plain.pk),
    }
    assert {one["code"] for one in refused.values()} == {"invalid_payload"}
    assert all("21 payloads of one request" in one["message"] for one in refused.values())


def test_the_triggers_of_an_event_share_one_budget_for_their_concurrency_keys(
    system: APIClient,
) -> None:
    # Four texts of 1 MB each: a dozen use up the memory of a budget, in little time.
    key = "{{ (input.n * 1000000) | upper | lower | upper | length }}"
    costly = [triggered(ORDER, settings={"concurrency": {"key": key}}) for _ in range(20)]

    answer = tell(system, payload={"n": "x"})

    refused = answer.json()["refused"]
    assert 0 < WorkflowExecution.objects.count() < 20
    assert WorkflowExecution.objects.count() + len(refused) == len(costly)
    assert all("settings.concurrency.key" in one["message"] for one in refused)


def test_five_hundred_ordinary_triggers_of_an_event_all_start(
    system: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"concurrency": {"key": "{{ input.customer.email | lower }}-{{ input.id }}"}}
    # A tenth of both shows the same: the budgets grow with the triggers.
    monkeypatch.setattr(triggers, "MAX_TRIGGERS", 50)
    only = {**ORDER, "filter": "{{ event.total > 1 }}"}
    for _ in range(50):
        triggered(only, input=ORDERS, settings=settings)

    answer = tell(system, payload=order("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))

    assert answer.json()["refused"] == []
    assert len(answer.json()["executions"]) == 50


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": 5}, "name"),
        ({"name": "x", "id": ""}, "id"),
        ({"name": "x", "id": "i" * 201}, "id"),
        ({"name": "x", "workspaceId": "no"}, "workspaceId"),
        ({"name": "x", "event": {}}, "event"),
        ({"name": "x", "payload": "y" * 1024 * 1024}, "payload"),
    ],
)
def test_what_is_no_event_is_refused(system: APIClient, body: Any, path: str) -> None:
    answer = system.post("/v1/Event", body, format="json")

    assert answer.status_code == 422, answer.content
    assert [problem["path"] for problem in answer.json()["errors"]] == [path]
    assert not Event.objects.exists()


@pytest.mark.parametrize(("role", "status"), [("USER", 403), ("SYSTEM", 202), ("WORKFLOW", 202)])
def test_who_may_trigger_may_tell(
    member: Any, client_of: Any, workspace: Workspace, role: str, status: int
) -> None:
    answer = tell(client_of(member(role)), workspaceId=str(workspace.pk))

    assert answer.status_code == status


def test_another_workspace_cannot_be_told(system: APIClient, elsewhere: Workspace) -> None:
    assert tell(system, workspaceId=str(elsewhere.pk)).status_code == 404
    assert tell(APIClient()).status_code == 401


def test_events_are_listed_newest_first_by_name_and_age(
    author: APIClient, elsewhere: Workspace
) -> None:
    triggered(ORDER)
    for number in range(3):
        tell(author, payload={"n": number}, id=f"o-{number}")
    tell(author, "order.paid")
    triggers.publish_event(elsewhere, "order.created", {}, actor=ACTOR)

    first = author.get("/v1/Event?name=order.created&limit=2")
    second = author.get(first["Link"].partition("<")[2].partition(">")[0])

    assert [row["eventId"] for row in first.json()] == ["o-2", "o-1"]
    assert [row["eventId"] for row in second.json()] == ["o-0"]
    assert "payload" not in first.json()[0]
    assert len(first.json()[0]["executions"]) == 1
    assert author.get("/v1/Event?createdBefore=2020-01-01T00:00:00Z").json() == []


def test_one_event_is_shown_with_its_payload(
    author: APIClient, system: APIClient, member: Any, client_of: Any, elsewhere: Workspace
) -> None:
    told = tell(author, payload={"total": 7}).json()

    shown = author.get(f"/v1/Event/{told['id']}").json()

    assert shown["payload"] == {"total": 7}
    assert system.get(f"/v1/Event/{told['id']}").status_code == 403
    stranger = client_of(member("ADMIN", elsewhere))
    assert stranger.get(f"/v1/Event/{told['id']}").status_code == 404
    assert author.get(f"/v1/Event/{uuid4()}").status_code == 404
