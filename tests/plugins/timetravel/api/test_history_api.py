"""Tests of checkpoints, roll-back, fork and replay over HTTP."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from rest_framework.test import APIClient

from executions.api.fields import HIDDEN
from executions.jobs import requests
from executions.models import WorkflowExecution, WorkflowUserPermission, Workspace
from runners.models import Run
from tests.contract.carrying import carry
from tests.support.jobs import run_jobs, working
from valkyr_plugins.timetravel.models import Checkpoint

pytestmark = pytest.mark.django_db(transaction=True)

EXECUTION = "/v1/WorkflowExecution"
SUMMARY = {
    "id", "executionId", "sequence", "kind", "name", "stepPath", "epoch", "current", "createdAt",
    "createdBy",
}  # fmt: skip
DEFINITION = {
    "schema": "valkyr/1",
    "name": "steps",
    "variables": {"stage": "new"},
    "tasks": [
        {"id": "one", "use": "flow.noop", "with": {"value": 1}},
        {
            "id": "set",
            "use": "flow.set_variables",
            "with": {"values": {"stage": "set"}},
            "after": "one",
        },
        {"id": "last", "use": "flow.noop", "with": {"value": "{{ vars.stage }}"}, "after": "set"},
        {"id": "bad", "use": "flow.fail", "with": {"message": "no"}, "after": "last"},
    ],
}


@pytest.fixture
def workflow(author: APIClient) -> dict[str, Any]:
    made = author.post("/v1/Workflow", {"definition": DEFINITION}, format="json").json()
    assert author.post(f"/v1/Workflow/{made['id']}/publish").status_code == 201
    return made


@pytest.fixture
def failed(author: APIClient, workflow: dict[str, Any]) -> str:
    """Run an execution to its dead step."""
    pk = author.post(f"{EXECUTION}/{workflow['id']}/execute", {}, format="json").json()["id"]
    carry(pk)
    shown = author.get(f"{EXECUTION}/{pk}").json()
    assert shown["state"] == "FAILED"
    return str(pk)


def post(client: APIClient, address: str, body: Any = None) -> Any:
    return client.post(f"{EXECUTION}/{address}", body or {}, format="json")


def test_a_checkpoint_is_taken_listed_and_read(author: APIClient, failed: str) -> None:
    made = post(author, f"{failed}/checkpoints", {"name": "as it was"})
    second = post(author, f"{failed}/checkpoints")

    assert made.status_code == second.status_code == 201, made.content
    assert set(made.json()) == SUMMARY | {"variables"}
    assert made.json()["variables"] == {"stage": "set"}
    assert (made.json()["kind"], made.json()["createdBy"]) == ("MANUAL", "workflow-default")
    listed = author.get(f"{EXECUTION}/{failed}/checkpoints?limit=1")
    assert [set(row) for row in listed.json()] == [SUMMARY]
    assert listed.json()[0]["id"] == second.json()["id"]
    following = author.get(listed["Link"].partition(">")[0].removeprefix("<"))
    assert made.json()["id"] in [row["id"] for row in following.json()]
    one = author.get(f"{EXECUTION}/{failed}/checkpoints/{made.json()['id']}")
    assert one.json() == made.json()
    assert author.get(f"{EXECUTION}/{failed}/checkpoints/{failed}").status_code == 404


def test_so_many_checkpoints_are_kept(author: APIClient, failed: str) -> None:
    Checkpoint.objects.bulk_create(
        Checkpoint(execution_id=failed, kind="MANUAL", sequence=number)
        for number in range(1000, 1100)
    )
    answer = post(author, f"{failed}/checkpoints")
    assert answer.status_code == 422
    assert answer.json()["code"] == "too_many_checkpoints"


def test_back_to_a_step(author: APIClient, failed: str) -> None:
    answer = post(author, f"{failed}/rollback", {"stepPath": "one.main", "reason": "again"})

    assert answer.status_code == 200, answer.content
    assert answer.json()["state"] == "RUNNING"
    assert answer.json()["contextData"] == {"stage": "new"}
    carry(failed)
    assert author.get(f"{EXECUTION}/{failed}").json()["contextData"] == {"stage": "set"}
    letters = author.get(f"/v1/DeadLetterQueue?workflowId={answer.json()['workflowId']}").json()
    assert sorted(letter["resolution"] for letter in letters) == ["DISCARDED", "PENDING"]


def test_back_to_a_checkpoint_and_not_past_it(author: APIClient, failed: str) -> None:
    late = post(author, f"{failed}/checkpoints", {"name": "late"}).json()
    assert post(author, f"{failed}/rollback", {"stepPath": "one.main"}).status_code == 200
    early = post(author, f"{failed}/checkpoints", {"name": "early"}).json()
    carry(failed)

    refused = post(author, f"{failed}/rollback", {"checkpointId": late["id"]})
    done = post(author, f"{failed}/rollback", {"checkpointId": early["id"]})

    assert refused.status_code == 409
    assert done.status_code == 200, done.content
    assert done.json()["contextData"] == {"stage": "new"}
    listed = author.get(f"{EXECUTION}/{failed}/checkpoints").json()
    known = {row["id"]: row["current"] for row in listed}
    assert (known[late["id"]], known[early["id"]]) == (False, True)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid"),
        (
            {"stepPath": "one.main", "checkpointId": "01900000-0000-7000-8000-000000000000"},
            422,
            "invalid",
        ),
        ({"stepPath": "bad.main"}, 422, "no_such_point"),
        ({"stepPath": "nowhere"}, 422, "no_such_point"),
        ({"stepPath": ""}, 422, "invalid"),
        ({"stepPath": 5}, 422, "invalid"),
        ({"stepPath": "a\x00b"}, 422, "invalid"),
        ({"checkpointId": "01900000-0000-7000-8000-000000000000"}, 404, "not_found"),
        ({"checkpointId": "x"}, 422, "invalid"),
        ({"nope": 1}, 422, "invalid"),
        ([], 422, "invalid"),
    ],
)
def test_a_point_that_is_none_is_refused(
    author: APIClient, failed: str, body: Any, status: int, code: str
) -> None:
    answer = author.post(f"{EXECUTION}/{failed}/rollback", body, format="json")

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    assert WorkflowExecution.objects.get(pk=failed).epoch == 0


def test_what_is_over_is_a_409_that_names_the_fork(author: APIClient, failed: str) -> None:
    post(author, f"{failed}/rollback", {"stepPath": "one.main"})
    post(author, f"{failed}/cancel")

    answer = post(author, f"{failed}/rollback", {"stepPath": "one.main"})

    assert answer.status_code == 409
    assert answer.json()["state"] == "CANCELLED"
    assert "Fork" in answer.json()["detail"]


def test_a_fork_with_overrides(author: APIClient, failed: str) -> None:
    answer = post(
        author,
        f"{failed}/fork",
        {
            "stepPath": "last.main",
            "overrides": {"variables": {"stage": "x"}, "steps": {"last.main": {"value": 9}}},
        },
    )

    assert answer.status_code == 202, answer.content
    made = answer.json()
    assert answer["Location"] == f"{EXECUTION}/{made['id']}"
    assert made["id"] != failed
    assert made["contextData"] == {"stage": "x"}
    assert made["triggerType"] == "MANUAL"
    carry(made["id"])
    run = Run.objects.get(execution_id=made["id"], step_path="last.main")
    assert run.outputs == 9


@pytest.mark.parametrize(
    ("body", "status", "path"),
    [
        ({"version": 0}, 422, "version"),
        ({"version": "newest"}, 422, "version"),
        ({"version": True}, 422, "version"),
        ({"version": []}, 422, "version"),
        ({"version": 99}, 404, None),
        ({"overrides": []}, 422, "overrides"),
        ({"overrides": {"what": 1}}, 422, "overrides.what"),
        ({"overrides": {"variables": 1}}, 422, "overrides.variables"),
        ({"overrides": {"variables": {"x": 1}}}, 422, "overrides.variables.x"),
        ({"overrides": {"steps": {"one.main": 1}}}, 422, "overrides.steps"),
        ({"overrides": {"steps": {"last.main": {}}}}, 422, "overrides.steps.last.main"),
        ({"stepPath": "nowhere"}, 422, None),
        ({"checkpointId": "01900000-0000-7000-8000-000000000000"}, 404, None),
    ],
)
def test_a_fork_that_does_not_fit_is_refused(
    author: APIClient, failed: str, body: Any, status: int, path: str | None
) -> None:
    answer = post(author, f"{failed}/fork", body)

    assert answer.status_code == status, answer.content
    if path is not None:
        assert [problem["path"] for problem in answer.json()["errors"]] == [path]
    assert WorkflowExecution.objects.count() == 1


def test_steps_missing_in_the_version_are_listed(
    author: APIClient, failed: str, workflow: dict[str, Any]
) -> None:
    other = DEFINITION | {"tasks": [{"id": "last", "use": "flow.noop"}]}
    address = f"/v1/Workflow/{workflow['id']}"
    assert author.patch(address, {"definition": other}, format="json").status_code == 200
    assert author.post(f"{address}/publish").status_code == 201

    answer = post(author, f"{failed}/fork", {"stepPath": "last.main", "version": "latest"})

    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_fork"
    assert [p["path"] for p in answer.json()["errors"]] == ["one.main", "set.main"]


def verified(client: APIClient, execution: str) -> dict[str, Any]:
    """Return the findings of a verification that a worker runs at once."""
    with working():
        answer = post(client, f"{execution}/replay", {"verify": True})
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_replay_starts_anew_or_only_verifies(author: APIClient, failed: str) -> None:
    found = verified(author, failed)
    again = post(author, f"{failed}/replay")

    assert found == {"same": True, "steps": 4, "complete": True, "differences": []}
    assert again.status_code == 202
    assert again.json()["state"] == "RUNNING"
    running = post(author, f"{again.json()['id']}/replay", {"verify": True})
    assert running.status_code == 409
    Run.objects.filter(execution_id=failed, step_path="one.main").update(inputs_hash="x")
    found = verified(author, failed)
    assert found["same"] is False
    assert {d["stepPath"] for d in found["differences"]} == {"one.main"}
    assert set(found["differences"][0]) == {"stepPath", "field", "recorded", "replayed"}


def test_a_verification_that_takes_long_is_asked_for_later(author: APIClient, failed: str) -> None:
    asked = post(author, f"{failed}/replay", {"verify": True})  # no worker runs

    assert asked.status_code == 202, asked.content
    assert asked.headers["Location"] == f"/v1/Verification/{asked.json()['id']}"
    assert (asked.json()["state"], asked.json()["result"]) == ("QUEUED", None)
    assert asked.json()["executionId"] == failed
    assert run_jobs() == 1
    found = author.get(asked.headers["Location"]).json()
    assert (found["state"], found["error"]) == ("SUCCESS", "")
    assert found["result"] == {"same": True, "steps": 4, "complete": True, "differences": []}


def test_an_execution_is_verified_once_at_a_time(author: APIClient, failed: str) -> None:
    key = {"HTTP_IDEMPOTENCY_KEY": "first"}  # stored with what it created, so it does not wait
    address = f"{EXECUTION}/{failed}/replay"

    first = author.post(address, {"verify": True}, format="json", **key).json()
    second = verified_later(author, failed)

    assert first["id"] == second["id"]
    run_jobs()
    assert verified_later(author, failed)["id"] != first["id"]


def verified_later(client: APIClient, execution: str) -> dict[str, Any]:
    """Request a verification with its own idempotency key."""
    answer = client.post(
        f"{EXECUTION}/{execution}/replay",
        {"verify": True},
        format="json",
        HTTP_IDEMPOTENCY_KEY=uuid4().hex,
    )
    assert answer.status_code == 202, answer.content
    made: dict[str, Any] = answer.json()
    return made


def test_a_verification_is_hidden_like_its_execution(
    author: APIClient,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    elsewhere: Workspace,
    failed: str,
) -> None:
    asked = verified_later(author, failed)
    outsider = client_of(member("ADMIN", elsewhere))

    hidden = outsider.get(f"/v1/Verification/{asked['id']}")
    missing = outsider.get(f"/v1/Verification/{failed}")

    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert hidden.json()["code"] == missing.json()["code"] == "not_found"


def test_values_of_a_verification_need_view_payloads(
    author: APIClient,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    failed: str,
) -> None:
    Run.objects.filter(execution_id=failed, step_path="one.main").update(inputs_hash="x")
    asked = verified_later(author, failed)
    run_jobs()

    reader = member("USER")
    WorkflowUserPermission.objects.create(
        user=reader,
        content_object=WorkflowExecution.objects.get(pk=failed).workflow,
        permission=Permission.objects.get(codename="read_workflow"),
    )

    shown = client_of(reader).get(f"/v1/Verification/{asked['id']}").json()["result"]

    difference = shown["differences"][0]
    assert difference["stepPath"] == "one.main"
    assert difference["recorded"] == difference["replayed"] == HIDDEN


def test_a_workspace_has_so_many_jobs_at_once(
    author: APIClient, failed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_UNFINISHED", 0)

    refused = post(author, f"{failed}/replay", {"verify": True})

    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "5"


@pytest.mark.parametrize("body", [{"verify": "yes"}, {"verify": 1}, {"other": True}])
def test_a_replay_takes_what_it_knows(author: APIClient, failed: str, body: Any) -> None:
    assert post(author, f"{failed}/replay", body).status_code == 422


OPERATIONS: list[tuple[str, dict[str, Any]]] = [
    ("rollback", {"stepPath": "one.main"}),
    ("fork", {}),
    ("replay", {}),
    ("checkpoints", {}),
]


@pytest.mark.parametrize(("name", "body"), OPERATIONS)
def test_strangers_learn_nothing(
    stranger: APIClient,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    elsewhere: Workspace,
    failed: str,
    name: str,
    body: dict[str, Any],
) -> None:
    outsider = client_of(member("ADMIN", elsewhere))
    assert post(stranger, f"{failed}/{name}", body).status_code == 401
    assert post(outsider, f"{failed}/{name}", body).status_code == 404
    assert WorkflowExecution.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("rollback", {"stepPath": "one.main"}, 403),
        ("checkpoints", {}, 403),
        ("fork", {}, 202),
        ("replay", {}, 202),
        ("replay", {"verify": True}, 403),
    ],
)
def test_a_system_may_start_again_but_not_operate(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    failed: str,
    name: str,
    body: dict[str, Any],
    status: int,
) -> None:
    system = client_of(member("SYSTEM"))
    assert post(system, f"{failed}/{name}", body).status_code == status
