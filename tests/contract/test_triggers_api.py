"""Triggers over HTTP: they follow the published version; users switch them and see secrets."""

from typing import Any
from uuid import uuid4

import pytest
from django_celery_beat.models import PeriodicTask
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.models import Activity, Trigger, Workspace
from executions.publishing import versioning
from executions.triggers.webhook import secret_of
from tests.support.triggers import only_trigger, publish_again, triggered
from tests.support.workflows import ACTOR

pytestmark = pytest.mark.django_db

CRON = {"type": "CRON", "schedule": "0 2 * * *"}
HOOK = {"type": "WEBHOOK"}
EVENT = {"type": "EVENT", "event": "order.created"}
QUEUE = {"type": "QUEUE", "queue": "orders"}


def patch(client: APIClient, trigger: Trigger, **body: Any) -> Any:
    return client.patch(f"/v1/Trigger/{trigger.pk}", body, format="json")


def test_publishing_makes_a_trigger_of_each_entry(author: APIClient) -> None:
    workflow = triggered(CRON, HOOK, EVENT, QUEUE)

    rows = author.get(f"/v1/Trigger?workflowId={workflow.pk}").json()

    shown = {row["type"]: row for row in rows}
    assert set(shown) == {"CRON", "WEBHOOK", "EVENT", "QUEUE"}
    assert shown["WEBHOOK"]["address"] == f"/v1/hooks/{shown['WEBHOOK']['id']}"
    assert shown["EVENT"]["settings"] == {"event": "order.created", "filter": None}
    assert shown["QUEUE"]["settings"] == {"queue": "orders", "broker": None}
    assert shown["CRON"]["address"] is None
    assert all(row["enabled"] and row["retiredAt"] is None for row in rows)
    assert "secret" not in str(rows)


def test_what_stays_the_same_keeps_its_row_and_what_goes_is_retired(author: APIClient) -> None:
    workflow = triggered(HOOK, EVENT)
    before = {t.type: t for t in Trigger.objects.filter(workflow=workflow)}

    publish_again(workflow, {**EVENT, "event": "order.paid"}, {**HOOK, "ui": {"x": 1}})

    after = {row["id"]: row for row in author.get("/v1/Trigger").json()}
    assert after[str(before["WEBHOOK"].pk)]["enabled"]
    assert not after[str(before["EVENT"].pk)]["enabled"]
    assert after[str(before["EVENT"].pk)]["retiredAt"] is not None
    assert len(after) == 3


def test_what_comes_back_gets_its_row_back(author: APIClient) -> None:
    workflow = triggered(HOOK, CRON)
    before = set(Trigger.objects.values_list("pk", flat=True))
    publish_again(workflow)
    assert not PeriodicTask.objects.filter(task="executions.fire_cron").exists()

    publish_again(workflow, CRON, HOOK, settings={"priority": 7})

    assert set(Trigger.objects.filter(enabled=True).values_list("pk", flat=True)) == before
    assert Trigger.objects.filter(retired_at=None).count() == 2
    assert PeriodicTask.objects.filter(task="executions.fire_cron").count() == 1


def test_a_trigger_is_switched_off_and_on(author: APIClient) -> None:
    trigger = only_trigger(triggered(HOOK))

    off = patch(author, trigger, enabled=False)
    again = patch(author, trigger, enabled=False)
    on = patch(author, trigger, enabled=True)

    assert [a.json()["enabled"] for a in (off, again, on)] == [False, False, True]
    actions = Activity.objects.filter(object_id=trigger.pk).order_by("id")
    assert [a.action for a in actions] == ["trigger.disable", "trigger.enable"]
    assert actions[0].actor_name == "workflow-default"


def test_publishing_leaves_a_switched_off_trigger_off(author: APIClient) -> None:
    workflow = triggered(HOOK, CRON)
    for trigger in Trigger.objects.all():
        patch(author, trigger, enabled=False)

    publish_again(workflow, HOOK, CRON, settings={"priority": 7})

    assert list(Trigger.objects.values_list("enabled", "retired_at")) == [(False, None)] * 2
    assert not PeriodicTask.objects.get(task="executions.fire_cron").enabled


def test_a_switched_off_trigger_that_comes_back_is_still_off(author: APIClient) -> None:
    workflow = triggered(HOOK, CRON)
    patch(author, Trigger.objects.get(type="CRON"), enabled=False)
    publish_again(workflow)

    publish_again(workflow, HOOK, CRON, settings={"priority": 7})

    shown = dict(Trigger.objects.filter(retired_at=None).values_list("type", "enabled"))
    assert shown == {"WEBHOOK": True, "CRON": False}
    assert not PeriodicTask.objects.filter(task="executions.fire_cron", enabled=True).exists()
    patch(author, Trigger.objects.get(type="CRON"), enabled=True)
    assert PeriodicTask.objects.get(task="executions.fire_cron").enabled


def test_a_schedule_switched_on_again_does_not_catch_up(author: APIClient) -> None:
    trigger = only_trigger(triggered(CRON))

    patch(author, trigger, enabled=False)
    assert not PeriodicTask.objects.get(task="executions.fire_cron").enabled
    patch(author, trigger, enabled=True)

    assert PeriodicTask.objects.get(task="executions.fire_cron").enabled
    switched = Trigger.objects.get(pk=trigger.pk)
    assert switched.enabled_at > trigger.enabled_at
    assert switched.created_at == trigger.created_at


def test_a_retired_trigger_cannot_be_switched_on(author: APIClient) -> None:
    workflow = triggered(HOOK)
    trigger = only_trigger(workflow)
    versioning.archive_workflow(workflow.pk, actor=ACTOR)

    answer = patch(author, trigger, enabled=True)

    assert (answer.status_code, answer.json()["state"]) == (409, "RETIRED")
    assert "publish" in answer.json()["detail"]


@pytest.mark.parametrize("body", [{}, {"enabled": "yes"}, {"enabled": True, "settings": {}}])
def test_only_the_switch_can_be_changed(author: APIClient, body: Any) -> None:
    trigger = only_trigger(triggered(HOOK))

    assert author.patch(f"/v1/Trigger/{trigger.pk}", body, format="json").status_code == 422


def test_triggers_are_neither_made_nor_deleted_but_by_definitions(author: APIClient) -> None:
    trigger = only_trigger(triggered(HOOK))

    made = author.post("/v1/Trigger", HOOK, format="json")
    deleted = author.delete(f"/v1/Trigger/{trigger.pk}")

    for answer in (made, deleted):
        assert answer.status_code == 409
        assert "publish" in answer.json()["detail"]
    assert author.delete(f"/v1/Trigger/{uuid4()}").status_code == 404


def test_triggers_are_filtered_and_paged(author: APIClient) -> None:
    triggered(HOOK, EVENT)
    triggered(HOOK)
    patch(author, Trigger.objects.filter(type="WEBHOOK")[0], enabled=False)

    def found(query: str) -> int:
        return len(author.get(f"/v1/Trigger?{query}").json())

    assert (found("type=WEBHOOK"), found("enabled=false"), found("enabled=true&type=WEBHOOK")) == (
        2, 1, 1,
    )  # fmt: skip
    assert (found("limit=2"), found(f"workflowId={uuid4()}")) == (2, 0)
    assert "next" in author.get("/v1/Trigger?limit=2")["Link"]
    assert author.get("/v1/Trigger?type=SMOKE").status_code == 422


def test_administrators_see_and_change_the_secret(admin: APIClient) -> None:
    trigger = only_trigger(triggered(HOOK))

    shown = admin.get(f"/v1/Trigger/{trigger.pk}/secret").json()["secret"]
    new = admin.post(f"/v1/Trigger/{trigger.pk}/rotate-secret").json()["secret"]

    assert shown == secret_of(trigger.pk, 1)
    assert new == secret_of(trigger.pk, 2) != shown
    assert admin.get(f"/v1/Trigger/{trigger.pk}/secret").json()["secret"] == new
    actions = Activity.objects.filter(object_id=trigger.pk).order_by("id")
    assert [a.action for a in actions] == ["trigger.reveal", "trigger.rotate", "trigger.reveal"]
    assert actions[1].details["overlapSeconds"] == 24 * 3600


def test_a_rotation_says_how_long_the_former_secret_is_accepted(admin: APIClient) -> None:
    trigger = only_trigger(triggered(HOOK))
    address = f"/v1/Trigger/{trigger.pk}"

    def until(**body: Any) -> Any:
        answer = admin.post(f"{address}/rotate-secret", body, format="json")
        assert answer.status_code == 200, answer.json()
        return admin.get(address).json()["formerSecretUntil"]

    assert admin.get(address).json()["formerSecretUntil"] is None
    week, hour = until(overlapSeconds=604_800), until(overlapSeconds=3_600)
    assert week > hour > database_now().isoformat()
    assert until(overlapSeconds=0) is None
    for wrong in (-1, 604_801, "60"):
        refused = admin.post(f"{address}/rotate-secret", {"overlapSeconds": wrong}, format="json")
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["path"] == "overlapSeconds"


def test_only_webhooks_have_a_secret(admin: APIClient) -> None:
    trigger = only_trigger(triggered(EVENT))

    answer = admin.get(f"/v1/Trigger/{trigger.pk}/secret")

    assert (answer.status_code, answer.json()["code"]) == (422, "no_webhook")


# For ADMIN, WORKFLOW, SYSTEM and USER of the workspace, ADMIN of another, and an anonymous client.
OPERATIONS = {
    ("get", "/v1/Trigger/{}"): (200, 200, 403, 404, 404, 401),
    ("patch", "/v1/Trigger/{}"): (200, 200, 403, 404, 404, 401),
    ("delete", "/v1/Trigger/{}"): (409, 409, 403, 404, 404, 401),
    ("get", "/v1/Trigger/{}/secret"): (200, 403, 403, 404, 404, 401),
    ("post", "/v1/Trigger/{}/rotate-secret"): (200, 403, 403, 404, 404, 401),
}


@pytest.mark.parametrize(("method", "address"), sorted(OPERATIONS))
def test_a_role_may_do_what_the_table_says(
    member: Any, client_of: Any, elsewhere: Workspace, method: str, address: str
) -> None:
    trigger = only_trigger(triggered(HOOK))
    people = [client_of(member(role)) for role in ("ADMIN", "WORKFLOW", "SYSTEM", "USER")]
    people += [client_of(member("ADMIN", elsewhere)), APIClient()]
    body = {"enabled": True} if method == "patch" else {}

    found = [
        getattr(client, method)(address.format(trigger.pk), body, format="json").status_code
        if method != "get"
        else client.get(address.format(trigger.pk)).status_code
        for client in people
    ]

    assert tuple(found) == OPERATIONS[method, address]


def test_a_list_holds_what_one_may_see(member: Any, client_of: Any, elsewhere: Workspace) -> None:
    triggered(HOOK)

    def seen(user: Any) -> int:
        return len(client_of(user).get("/v1/Trigger").json())

    assert seen(member("ADMIN")) == 1
    assert seen(member("SYSTEM")) == seen(member("ADMIN", elsewhere)) == 0
