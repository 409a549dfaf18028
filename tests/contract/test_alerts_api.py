"""Alert rules over HTTP: secrets are never returned; users see the rules, alerts and messages of
their workspaces.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.access.actor import Actor
from executions.credentials.key_rotation import reseal, retire, rotate
from executions.models import Activity, Workspace
from tests.support.alerts import finding
from tests.support.alerts import receiver as serving
from valkyr_plugins.alerts.lifecycle import Finding, notice, tell
from valkyr_plugins.alerts.models import Alert, AlertDelivery, AlertKind, AlertRule
from valkyr_plugins.alerts.rules import secret_of

pytestmark = pytest.mark.django_db
CANARY = "https://hooks.slack.com/services/T0/B0/canary"
SLACK = {"name": "On call", "kinds": ["GROUP_NEW"], "channel": "SLACK", "secret": CANARY}


@pytest.fixture
def root(client_of: Callable[[Any], APIClient]) -> APIClient:
    return client_of(get_user_model().objects.create_superuser("root"))


def create(client: APIClient, **body: Any) -> Any:
    return client.post("/v1/AlertRule", SLACK | body, format="json")


def test_a_secret_goes_in_and_never_comes_out(admin: APIClient) -> None:
    made = create(admin)
    assert made.status_code == 201, made.content
    address = made.headers["Location"]

    texts = [
        made.content,
        admin.get(address).content,
        admin.get("/v1/AlertRule").content,
        admin.patch(address, {"intervalSeconds": 600}, format="json").content,
        admin.get("/v1/Activity").content,
    ]

    assert made.json()["hasSecret"] is True
    assert all(b"canary" not in text for text in texts)
    assert secret_of(AlertRule.objects.get()) == CANARY


def test_a_secret_stays_until_another_is_given_or_the_channel_changes(admin: APIClient) -> None:
    address = create(admin).headers["Location"]

    def change(**body: Any) -> int:
        return int(admin.patch(address, body, format="json").status_code)

    assert change(name="Night") == 200
    assert secret_of(AlertRule.objects.get()) == CANARY
    assert change(secret=f"{CANARY}2") == 200
    assert secret_of(AlertRule.objects.get()) == f"{CANARY}2"
    assert change(secret=None) == 422  # Slack needs one
    assert change(channel="WEBHOOK", url="https://shop.example.com/") == 422
    assert change(channel="EMAIL", recipients=["ann@example.com"]) == 200
    assert secret_of(AlertRule.objects.get()) == ""


def test_secrets_of_rules_are_sealed_anew_with_the_keys(admin: APIClient) -> None:
    create(admin)
    actor = Actor.system("tests")
    rotate(actor)
    reseal(actor)
    retire(actor)

    assert secret_of(AlertRule.objects.get()) == CANARY


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"kinds": []}, "kinds"),
        ({"kinds": ["NOTHING"]}, "kinds[0]"),
        ({"kinds": ["GROUP_NEW", "GROUP_NEW"]}, "kinds"),
        ({"name": "two\nlines"}, "name"),
        ({"channel": "PIGEON"}, "channel"),
        ({"secret": "no address"}, "secret"),
        ({"recipients": ["ann@example.com"]}, "recipients"),
        ({"channel": "EMAIL", "secret": None}, "recipients"),
        ({"channel": "EMAIL", "secret": None, "recipients": ["a@b.c\r\nBcc: d"]}, "recipients"),
        ({"channel": "WEBHOOK", "url": "ftp://a.example/", "secret": "x" * 16}, "url"),
        ({"channel": "WEBHOOK", "url": "https://me:pw@a.example/", "secret": "x" * 16}, "url"),
        ({"channel": "WEBHOOK", "url": "https://a.example/", "secret": "short"}, "secret"),
        ({"intervalSeconds": 1}, "intervalSeconds"),
        ({"rateFactor": 0}, "rateFactor"),
        ({"oldestHours": "many"}, "oldestHours"),
        ({"workflowId": "01a1f000-0000-7000-8000-000000000001"}, "workflowId"),
        ({"tells": "nobody"}, "tells"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_place(
    admin: APIClient, body: dict[str, Any], path: str
) -> None:
    answer = create(admin, **body)

    assert answer.status_code == 422, answer.content
    assert path in {problem["path"] for problem in answer.json()["errors"]}
    assert not AlertRule.objects.exists()


def test_two_rules_of_a_workspace_have_two_names(admin: APIClient) -> None:
    create(admin)

    assert create(admin).status_code == 409
    assert create(admin, name="Night").status_code == 201


def test_the_installations_rules_are_superusers_alone(
    admin: APIClient, root: APIClient, workspace: Workspace
) -> None:
    assert create(admin, installation=True).status_code == 403
    made = create(root, installation=True)
    assert made.status_code == 201, made.content
    assert made.json()["workspaceId"] is None
    address = made.headers["Location"]
    rule = AlertRule.objects.get()
    notice(rule, Finding(AlertKind.GROUP_NEW, "group:1", "It broke.", workspace_id=workspace.pk))
    tell(rule)
    AlertDelivery.objects.update(state="GIVEN_UP", next_at=None)
    again = f"/v1/AlertDelivery/{AlertDelivery.objects.get().pk}/resend"

    for client, found, status in ((admin, 0, 404), (root, 1, 200)):
        for name in ("AlertRule", "Alert", "AlertDelivery"):
            assert len(client.get(f"/v1/{name}").json()) == found
        assert client.get(address).status_code == status
        assert client.patch(address, {"enabled": False}, format="json").status_code == status
        assert client.post(again, {}, format="json").status_code == status
    assert create(root, installation=True, workspaceId=str(workspace.pk)).status_code == 422
    assert root.delete(address).status_code == 204


def test_a_test_tells_what_became_of_it(admin: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    with serving() as server:
        address = create(
            admin, channel="WEBHOOK", url=server.url, secret="a secret that signs"
        ).headers["Location"]
        server.answers = [503]

        answers = [admin.post(f"{address}/test", {}, format="json").json() for _ in range(2)]

    assert [(one["state"], one["answer"]) for one in answers] == [("GIVEN_UP", 503), ("SENT", 200)]
    assert answers[0]["error"]
    assert Activity.objects.filter(action="alert_rule.test").count() == 2


def test_alerts_and_messages_are_listed_by_state(admin: APIClient) -> None:
    create(admin, kinds=["CIRCUIT_OPEN"])
    rule = AlertRule.objects.get()
    notice(rule, finding())
    tell(rule)

    def listed(name: str, **query: str) -> list[Any]:
        rows: list[Any] = admin.get(f"/v1/{name}", query).json()
        return rows

    (alert,) = listed("Alert", state="OPEN", kind="CIRCUIT_OPEN", ruleId=str(rule.pk))
    (message,) = listed("AlertDelivery", state="QUEUED", alertId=alert["id"])
    assert (alert["count"], message["reason"]) == (1, "RAISED")
    assert listed("Alert", state="OVER") == []
    assert admin.get("/v1/Alert", {"state": "GONE"}).status_code == 422
    rule_address = f"/v1/AlertRule/{rule.pk}"
    assert admin.delete(rule_address).status_code == 204
    assert not Alert.objects.exists()
