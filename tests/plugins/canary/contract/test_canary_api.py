"""Tests of canaries and rollbacks over HTTP: publish, compare, change, promote, stop, roll back."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.bundles.applying import apply
from executions.bundles.planning import Bundle
from executions.models import Activity, Trigger, Workflow, WorkflowExecution, Workspace
from executions.publishing import versioning
from executions.states import TriggerType
from tests.support.workflows import ACTOR
from valkyr_plugins.canary.models import Canary

pytestmark = pytest.mark.django_db
STOP = {"failureRate": 10, "atLeast": 50, "slower": 2.0}


def publish_canary(client: APIClient, workflow: dict[str, Any], **body: Any) -> Any:
    """Change the draft, and publish it for a share of the starts."""
    row = Workflow.objects.get(pk=workflow["id"])
    changed = row.definition | {"triggers": [{"type": "EVENT", "event": f"v{row.revision}"}]}
    versioning.update_workflow(row.pk, {"definition": changed}, actor=ACTOR, expected_revision=None)
    path = f"/v1/Workflow/{workflow['id']}/canary"
    return client.post(path, {"percent": 5, "stop": STOP} | body, format="json")


def test_a_version_is_published_for_a_share(author: APIClient, greeting: dict[str, Any]) -> None:
    made = publish_canary(author, greeting)

    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["version"], told["latestVersion"], told["percent"]) == (2, 1, 5)
    assert told["state"] == "RUNNING"
    assert told["stop"] == STOP | {"newGroup": 3}
    assert told["figures"]["canary"]["started"] == 0
    shown = author.get(f"/v1/Workflow/{greeting['id']}").json()
    assert shown["latestVersion"] == 1
    assert not Trigger.objects.filter(workflow=greeting["id"], type=TriggerType.EVENT).exists()
    actions = set(Activity.objects.values_list("action", flat=True))
    assert {"workflow.publish", "canary.begin"} <= actions


def test_figures_are_side_by_side(author: APIClient, greeting: dict[str, Any]) -> None:
    publish_canary(author, greeting, percent=50)
    payloads = [{"name": str(number)} for number in range(40)]
    author.post(
        f"/v1/WorkflowExecution/{greeting['id']}/execute-batch", {"payloads": payloads},
        format="json",
    )  # fmt: skip
    on_canary = WorkflowExecution.objects.filter(canary=True).count()

    found = author.get(f"/v1/Workflow/{greeting['id']}/canary").json()["figures"]

    assert 0 < on_canary < 40
    assert found["canary"]["started"] == on_canary
    assert found["latest"]["started"] == 40 - on_canary
    listed = author.get("/v1/WorkflowExecution", {"workflowId": greeting["id"], "version": 2})
    assert len(listed.json()) == min(on_canary, len(listed.json())) > 0


def test_a_promoted_canary_is_the_latest(author: APIClient, greeting: dict[str, Any]) -> None:
    publish_canary(author, greeting)

    done = author.post(
        f"/v1/Workflow/{greeting['id']}/canary/promote", {"reason": "good"}, format="json"
    )

    assert done.status_code == 200, done.content
    assert done.json()["state"] == "PROMOTED"
    assert author.get(f"/v1/Workflow/{greeting['id']}").json()["latestVersion"] == 2
    assert Trigger.objects.filter(workflow=greeting["id"], type=TriggerType.EVENT).exists()
    assert Activity.objects.get(action="canary.promote").reason == "good"


def test_a_stopped_canary_has_no_share(author: APIClient, greeting: dict[str, Any]) -> None:
    publish_canary(author, greeting)

    done = author.post(
        f"/v1/Workflow/{greeting['id']}/canary/stop", {"reason": "bad"}, format="json"
    )

    assert done.json()["state"] == "STOPPED"
    row = Workflow.objects.get(pk=greeting["id"])
    assert (row.canary_version_id, row.canary_percent) == (None, None)
    again = author.post(f"/v1/Workflow/{greeting['id']}/canary/stop", {}, format="json")
    assert again.status_code == 404
    late = author.post(f"/v1/Workflow/{greeting['id']}/canary/promote", {}, format="json")
    assert late.status_code == 404


def test_the_share_and_the_rule_can_be_changed(author: APIClient, greeting: dict[str, Any]) -> None:
    publish_canary(author, greeting)
    path = f"/v1/Workflow/{greeting['id']}/canary"

    done = author.patch(path, {"percent": 25, "stop": None}, format="json")

    assert (done.json()["percent"], done.json()["stop"]) == (25, None)
    assert Workflow.objects.get(pk=greeting["id"]).canary_percent == 25
    assert author.patch(path, {}, format="json").status_code == 422


def test_another_publication_ends_a_canary(author: APIClient, greeting: dict[str, Any]) -> None:
    publish_canary(author, greeting)

    assert publish_canary(author, greeting).status_code == 201
    states = list(Canary.objects.order_by("created_at").values_list("state", flat=True))
    assert states == ["REPLACED", "RUNNING"]
    assert author.post(f"/v1/Workflow/{greeting['id']}/publish").status_code == 201
    assert set(Canary.objects.values_list("state", flat=True)) == {"REPLACED"}
    assert len(author.get(f"/v1/Workflow/{greeting['id']}/canaries").json()) == 2


def test_a_rollback_withdraws_the_latest_version(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    publish_canary(author, greeting)
    author.post(f"/v1/Workflow/{greeting['id']}/canary/promote", {}, format="json")
    path = f"/v1/Workflow/{greeting['id']}/rollbacks"

    done = author.post(path, {"reason": "bad"}, format="json")

    assert done.status_code == 201, done.content
    assert (done.json()["version"], done.json()["goodVersion"]) == (2, 1)
    assert author.get(f"/v1/Workflow/{greeting['id']}").json()["latestVersion"] == 1
    trigger = Trigger.objects.get(workflow=greeting["id"], type=TriggerType.EVENT)
    assert not trigger.enabled
    assert trigger.retired_at is not None
    assert Activity.objects.get(action="workflow.rollback").reason == "bad"
    assert author.post(path, {}, format="json").status_code == 409  # there is no earlier version
    assert len(author.get(path).json()) == 1


def test_a_rollback_of_a_running_canary_takes_its_share(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    publish_canary(author, greeting)

    done = author.post(f"/v1/Workflow/{greeting['id']}/rollbacks", {}, format="json").json()

    assert (done["version"], done["goodVersion"], done["switched"]) == (2, 1, True)
    assert Workflow.objects.get(pk=greeting["id"]).canary_version_id is None


@pytest.mark.parametrize(
    "body",
    [{"percent": 0}, {"percent": 101}, {"percent": "much"}, {"stop": {"atLeast": 0}}, {"x": 1}],
)
def test_impossible_shares_are_rejected(
    author: APIClient, greeting: dict[str, Any], body: dict[str, Any]
) -> None:
    assert publish_canary(author, greeting, **body).status_code == 422


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "canary"), ("post", "canary"), ("patch", "canary"), ("post", "canary/promote"),
        ("post", "canary/stop"), ("get", "canaries"), ("get", "rollbacks"), ("post", "rollbacks"),
    ],
)  # fmt: skip
def test_other_workspaces_see_and_change_nothing(
    author: APIClient,
    greeting: dict[str, Any],
    elsewhere: Workspace,
    member: Any,
    client_of: Any,
    method: str,
    path: str,
) -> None:
    publish_canary(author, greeting)
    foreign = client_of(member("ADMIN", elsewhere))

    answer = getattr(foreign, method)(
        f"/v1/Workflow/{greeting['id']}/{path}", {"percent": 50}, format="json"
    )

    assert answer.status_code == 404
    row = Workflow.objects.get(pk=greeting["id"])
    assert row.canary_percent == 5


def test_users_without_permission_to_publish_cannot_roll_back(
    author: APIClient, greeting: dict[str, Any], member: Any, client_of: Any
) -> None:
    publish_canary(author, greeting)
    system = client_of(member("SYSTEM"))

    for path in ("canary", "canary/promote", "canary/stop", "rollbacks"):
        answer = system.post(f"/v1/Workflow/{greeting['id']}/{path}", {"percent": 5}, format="json")
        assert answer.status_code == 403, path


def only_git_publishes() -> None:
    Workspace.objects.update(publish_from_git=True)


def test_no_canary_is_published_where_only_git_publishes(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    only_git_publishes()

    refused = publish_canary(author, greeting)

    assert (refused.status_code, refused.json()["code"]) == (409, "published_from_git")
    assert "valkyr apply" in refused.json()["detail"]
    assert not Canary.objects.exists()


def test_a_canary_is_stopped_but_not_promoted_where_only_git_publishes(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    publish_canary(author, greeting)
    only_git_publishes()
    path = f"/v1/Workflow/{greeting['id']}/canary"

    promoted = author.post(f"{path}/promote", {}, format="json")
    larger = author.patch(path, {"percent": 100}, format="json")
    smaller = author.patch(path, {"percent": 1}, format="json")
    stopped = author.post(f"{path}/stop", {}, format="json")

    assert promoted.json()["code"] == larger.json()["code"] == "published_from_git"
    assert (smaller.status_code, stopped.status_code) == (200, 200)
    assert Canary.objects.get().state == "STOPPED"
    assert author.get(f"/v1/Workflow/{greeting['id']}").json()["latestVersion"] == 1


def test_a_rollback_works_where_only_git_publishes(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    publish_canary(author, greeting)
    author.post(f"/v1/Workflow/{greeting['id']}/canary/promote", {}, format="json")
    only_git_publishes()

    done = author.post(f"/v1/Workflow/{greeting['id']}/rollbacks", {"reason": "bad"}, format="json")

    assert (done.status_code, done.json()["goodVersion"]) == (201, 1)


def test_a_bundle_ends_a_canary(author: APIClient, greeting: dict[str, Any]) -> None:
    publish_canary(author, greeting)
    row = Workflow.objects.get(pk=greeting["id"])
    document = {"schema": "valkyr/1", **row.definition, "description": "From Git"}

    apply(row.workspace, Bundle({row.slug: document}), ACTOR, source=None)

    row.refresh_from_db()
    assert (row.canary_version_id, row.canary_percent) == (None, None)
    assert Canary.objects.get().reason == "Version 3 was published."
