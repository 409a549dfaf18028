"""Tests of quotas over HTTP, and of a workspace's use of its limits."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.models import Activity, QuotaUse, Tier, Workspace
from executions.quotas.counting import start_of
from executions.states import QuotaWindow
from tests.support.windows import wait_for_a_long_hour
from valkyr_plugins.limits.models import Quota, QuotaHold

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_window_ends_meanwhile(db: None) -> None:
    wait_for_a_long_hour(10)


def execute(client: APIClient, workflow: dict[str, Any]) -> Any:
    address = f"/v1/WorkflowExecution/{workflow['id']}/execute"
    return client.post(address, {"params": {"name": "Ada"}}, format="json")


def create(client: APIClient, **body: Any) -> Any:
    return client.post("/v1/Quota", body, format="json")


def test_a_quota_holds_from_its_making_and_shows_what_is_used(
    admin: APIClient, author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    made = create(admin, maxPerHour=1)

    assert made.status_code == 201, made.content
    assert made.json()["workspaceId"] == str(workspace.pk)
    assert (made.json()["userId"], made.json()["username"]) == (None, None)
    assert (made.json()["maxPerHour"], made.json()["maxPerDay"]) == (1, None)
    assert execute(author, greeting).status_code == 202
    assert execute(author, greeting).status_code == 429
    seen = author.get(made["Location"]).json()
    assert (seen["hour"]["limit"], seen["hour"]["used"]) == (1, 1)
    assert (seen["day"]["limit"], seen["day"]["used"]) == (None, None)
    starts, ends = (datetime.fromisoformat(seen["hour"][name]) for name in ("startsAt", "endsAt"))
    assert ends - starts == timedelta(hours=1)
    assert (starts.minute, starts.second) == (0, 0)


def test_a_members_quota_names_the_member(
    admin: APIClient, author: APIClient, greeting: dict[str, Any]
) -> None:
    user = get_user_model().objects.get(username="workflow-default")

    made = create(admin, userId=user.pk, maxPerDay=1)

    assert (made.json()["userId"], made.json()["username"]) == (user.pk, "workflow-default")
    assert execute(author, greeting).status_code == 202
    refused = execute(author, greeting)
    assert refused.status_code == 429
    assert refused.json()["limitedBy"] == "Your quota in this workspace"
    assert execute(admin, greeting).status_code == 202


def test_other_limits_hold_at_once(
    admin: APIClient, author: APIClient, greeting: dict[str, Any]
) -> None:
    address = create(admin, maxPerHour=0)["Location"]
    assert execute(author, greeting).status_code == 429

    changed = admin.patch(address, {"maxPerHour": 1}, format="json")

    assert (changed.status_code, changed.json()["maxPerHour"]) == (200, 1)
    assert execute(author, greeting).status_code == 202
    assert execute(author, greeting).status_code == 429
    assert admin.delete(address).status_code == 204
    assert execute(author, greeting).status_code == 202
    assert admin.get(address).status_code == 404


def test_every_change_is_written_down(admin: APIClient) -> None:
    address = create(admin, maxPerHour=5)["Location"]
    admin.patch(address, {"maxPerHour": 6}, format="json")
    admin.patch(address, {"maxPerHour": 6}, format="json")
    admin.delete(address)

    rows = Activity.objects.filter(object_type="Quota").order_by("created_at")
    assert [row.action for row in rows] == ["quota.create", "quota.update", "quota.delete"]
    assert [(row.before or {}).get("max_per_hour") for row in rows] == [None, 5, 6]
    assert [(row.after or {}).get("max_per_hour") for row in rows] == [5, 6, None]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "maxPerHour"),
        ({"maxPerHour": None}, "maxPerHour"),
        ({"maxPerHour": -1}, "maxPerHour"),
        ({"maxPerHour": "5"}, "maxPerHour"),
        ({"maxPerDay": 2**53}, "maxPerDay"),
        ({"maxPerDay": 1.5}, "maxPerDay"),
        ({"maxPerHour": 5, "resource": "cakes"}, "resource"),
        ({"maxPerHour": 5, "target": "http.request"}, "target"),
        ({"maxConcurrent": 5}, "maxConcurrent"),
        ({"resource": "module", "maxPerHour": 5}, "target"),
        ({"resource": "module", "target": "no.such", "maxPerHour": 5}, "target"),
        ({"resource": "module", "target": "flow.noop", "maxPerHour": 5}, "target"),
        ({"resource": "module", "target": "flow.loop", "maxPerHour": 5}, "target"),
        ({"resource": "module", "target": "http.request"}, "maxPerHour"),
        ({"resource": "tokens", "maxConcurrent": 5}, "maxConcurrent"),
        ({"resource": "tokens", "maxPerDay": 5, "target": "x" * 101}, "target"),
        ({"maxPerHour": 5, "userId": 2**31 - 1}, "userId"),
        ({"maxPerHour": 5, "userId": True}, "userId"),
        ({"maxPerHour": 5, "workspaceId": "here"}, "workspaceId"),
    ],
)
def test_a_quota_that_makes_no_sense_is_refused(
    admin: APIClient, body: dict[str, Any], path: str
) -> None:
    answer = create(admin, **body)

    assert answer.status_code == 422, answer.content
    assert [error["path"] for error in answer.json()["errors"]] == [path]
    assert not Quota.objects.exists()


def test_only_members_can_have_a_quota(
    admin: APIClient, member: Callable[..., Any], elsewhere: Workspace
) -> None:
    other = member("WORKFLOW", elsewhere)

    answer = create(admin, maxPerHour=5, userId=other.pk)

    assert (answer.status_code, answer.json()["code"]) == (422, "quota_refused")


def test_there_is_one_quota_for_a_workspace_and_one_for_each_member(admin: APIClient) -> None:
    create(admin, maxPerHour=5)

    again = create(admin, maxPerDay=5)

    assert (again.status_code, again.json()["code"]) == (409, "quota_exists")
    assert Quota.objects.count() == 1


def test_the_last_limit_of_a_quota_is_lifted_by_deleting_it(admin: APIClient) -> None:
    address = create(admin, maxPerHour=5)["Location"]

    lifted = admin.patch(address, {"maxPerHour": None}, format="json")
    empty = admin.patch(address, {}, format="json")

    assert (lifted.status_code, empty.status_code) == (422, 422)
    assert Quota.objects.get().max_per_hour == 5


def test_a_list_of_many_quotas_takes_as_many_queries_as_one_of_few(
    admin: APIClient, member: Callable[..., Any], workspace: Workspace
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert len(admin.get("/v1/Quota").json()) == Quota.objects.count()
        return len(captured)

    create(admin, maxPerHour=5)
    few = queries()
    for number in range(20):
        create(admin, maxPerHour=5, userId=member("USER", name=f"user-{number}").pk)

    assert queries() == few


def test_quotas_are_listed_by_user_and_workspace(
    admin: APIClient, member: Callable[..., Any], workspace: Workspace, elsewhere: Workspace
) -> None:
    user = member("USER")
    mine = create(admin, maxPerHour=5, userId=user.pk).json()["id"]
    create(admin, maxPerHour=5)

    by_user = admin.get("/v1/Quota", {"userId": user.pk}).json()
    here = admin.get("/v1/Quota", {"workspaceId": str(workspace.pk)}).json()
    there = admin.get("/v1/Quota", {"workspaceId": str(elsewhere.pk)}).json()

    assert [row["id"] for row in by_user] == [mine]
    assert (len(here), there) == (2, [])


def test_a_workspaces_usage_says_what_is_left(
    admin: APIClient, author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    tier = Tier.objects.create(
        name="small", max_concurrent=2, max_pending=3, max_per_hour=100, max_per_day=1000
    )
    Workspace.objects.filter(pk=workspace.pk).update(tier=tier)
    create(admin, maxPerHour=10)
    for _ in range(3):
        assert execute(author, greeting).status_code == 202

    seen = author.get(f"/v1/Workspace/{workspace.pk}/usage").json()

    assert seen["tier"] == {
        "id": str(tier.pk),
        "name": "small",
        "maxConcurrent": 2,
        "maxPending": 3,
        "maxPerHour": 100,
        "maxPerDay": 1000,
    }
    assert (seen["running"], seen["pending"]) == (2, 1)
    assert (seen["hour"]["limit"], seen["hour"]["used"]) == (10, 3)
    assert (seen["day"]["limit"], seen["day"]["used"]) == (1000, 3)


def test_an_unlimited_workspace_counts_nothing(
    author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    execute(author, greeting)

    seen = author.get(f"/v1/Workspace/{workspace.pk}/usage").json()

    assert (seen["running"], seen["pending"]) == (1, 0)
    assert (seen["hour"]["limit"], seen["hour"]["used"]) == (None, None)


def test_a_quota_on_a_module_type_says_how_many_steps_run(
    admin: APIClient, workspace: Workspace
) -> None:
    made = create(admin, resource="module", target="http.request", maxConcurrent=3, maxPerDay=50)
    quota = Quota.objects.get()
    later = database_now() + timedelta(minutes=1)
    QuotaHold.objects.create(quota=quota, run_id=quota.pk, until=later)
    QuotaHold.objects.create(quota=quota, run_id=workspace.pk, until=database_now())
    QuotaUse.objects.create(
        workspace=workspace,
        resource="module",
        target="http.request",
        window="day",
        starts_at=start_of(QuotaWindow.DAY, database_now()),
        used=7,
    )

    seen = admin.get(made["Location"]).json()

    assert (seen["resource"], seen["target"], seen["maxConcurrent"]) == (
        "module", "http.request", 3,
    )  # fmt: skip
    assert (seen["running"], seen["day"]["used"], seen["hour"]["used"]) == (1, 7, None)


def test_one_may_limit_executions_steps_and_tokens_at_once(admin: APIClient) -> None:
    given: list[dict[str, Any]] = [
        {"maxPerDay": 5},
        {"resource": "module", "target": "http.request", "maxConcurrent": 1},
        {"resource": "module", "target": "email.send", "maxPerHour": 1},
        {"resource": "tokens", "maxPerDay": 2**40},
        {"resource": "tokens", "target": "gpt-4o", "maxPerDay": 5},
    ]

    assert [create(admin, **body).status_code for body in given] == [201] * 5
    assert len(admin.get("/v1/Quota", {"resource": "tokens"}).json()) == 2
