"""Executions over HTTP: start, list, read, move."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from executions import errors
from executions.events import executions_started
from executions.models import Activity, ApiToken, Membership, Tier, WorkflowExecution, Workspace
from tests.support.json_schemas import ORDERS, doubling, order
from tests.support.kept_facts import facts_are_kept
from tests.support.round_trips import round_trips
from tests.support.signed_in import bearer
from tests.support.workflows import publish, task

pytestmark = pytest.mark.django_db
FIELDS = {
    "id", "workflowId", "version", "state", "startedAt", "finishedAt", "parentExecutionId",
    "triggerType", "triggerPayload", "contextData", "errorMessage", "errorStackTrace",
    "metricsSnapshot", "createdAt", "workspaceId", "priority", "output", "traceId",
    "concurrencyKey", "labels", "failureOfExecutionId", "test", "compensation", "ending",
    "archivedAt",
}  # fmt: skip


def execute(client: APIClient, workflow: dict[str, Any], **headers: str) -> Any:
    return client.post(
        f"/v1/WorkflowExecution/{workflow['id']}/execute",
        {"params": {"name": "Ada"}, "priority": 7},
        format="json",
        headers=headers,
    )


def test_an_execution_is_accepted_and_found_where_the_answer_says(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    accepted = execute(author, greeting)

    assert accepted.status_code == 202
    shown = author.get(accepted["Location"]).json()
    assert set(shown) == FIELDS
    assert shown == accepted.json()
    assert shown["workflowId"] == greeting["id"]
    assert shown["version"] == 1
    assert shown["triggerType"] == "MANUAL"
    assert shown["triggerPayload"] == {"name": "Ada"}
    assert shown["priority"] == 7
    assert shown["errorStackTrace"] is None
    assert Activity.objects.filter(action="execution.start").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("signed_in_by", ["nobody asks", "password", "API token"])
def test_starting_takes_two_round_trips(
    author: APIClient, greeting: dict[str, Any], signed_in_by: str
) -> None:
    """Starting takes two round trips: one for sign-in, workflow, powers and limits, and one for the
    whole transaction, from BEGIN to COMMIT.
    """
    client = author
    if signed_in_by == "password":
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=bearer(Membership.objects.get().user))
    elif signed_in_by == "API token":
        made = author.post("/v1/ApiToken", {"name": "starts"}, format="json").json()
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {made['token']}")
    with facts_are_kept():
        execute(client, greeting)  # reads the limits
        execute(client, greeting)  # knows the limits, and reads the partitions
        with round_trips() as trips:
            assert execute(client, greeting).status_code == 202

    assert len(trips) == 2


@pytest.mark.django_db(transaction=True)
def test_who_listens_to_a_start_is_told_in_its_transaction(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    def refuse(**_: Any) -> None:
        assert WorkflowExecution.objects.count() == 1
        raise errors.QuotaExceeded("Not this one.", retry_after=1)

    executions_started.connect(refuse)
    try:
        refused = execute(author, greeting)
    finally:
        executions_started.disconnect(refuse)

    assert refused.status_code == 429
    assert WorkflowExecution.objects.count() == 0


def test_what_is_read_ahead_is_read_anew_for_each_request(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    person, program = APIClient(), APIClient()
    person.credentials(HTTP_AUTHORIZATION=bearer(Membership.objects.get().user))
    made = author.post("/v1/ApiToken", {"name": "starts"}, format="json").json()
    program.credentials(HTTP_AUTHORIZATION=f"Bearer {made['token']}")
    for client in (person, program):
        assert execute(client, greeting).status_code == 202

    Workspace.objects.update(archived_at=timezone.now())
    archived = [execute(client, greeting).status_code for client in (person, program)]
    Workspace.objects.update(archived_at=None)
    Membership.objects.all().delete()
    expelled = [execute(client, greeting).status_code for client in (person, program)]
    ApiToken.objects.update(revoked_at=timezone.now())
    revoked = execute(program, greeting).json()

    assert archived == [409, 409]
    assert expelled == [401, 404]  # a user who loses a role is signed out
    assert revoked["code"] == "token_revoked"
    assert WorkflowExecution.objects.count() == 2


def test_a_payload_that_breaks_the_schema_names_the_field(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    answer = author.post(
        f"/v1/WorkflowExecution/{greeting['id']}/execute",
        {"params": {"name": 5}},
        format="json",
    )

    assert answer.status_code == 422
    assert [problem["path"] for problem in answer.json()["errors"]] == ["params.name"]
    assert WorkflowExecution.objects.count() == 0


def test_one_key_starts_one_execution(author: APIClient, greeting: dict[str, Any]) -> None:
    key = {"Idempotency-Key": "order-1"}

    first, second = execute(author, greeting, **key), execute(author, greeting, **key)
    other = author.post(
        f"/v1/WorkflowExecution/{greeting['id']}/execute",
        {"params": {"name": "Bob"}},
        format="json",
        headers=key,
    )

    assert first.status_code == second.status_code == 202
    assert first.json()["id"] == second.json()["id"]
    assert other.status_code == 409
    assert other.json()["code"] == "key_reused"
    assert WorkflowExecution.objects.count() == 1


@pytest.mark.parametrize("key", ["", "with space", "x" * 201, "ümlaut"])
def test_a_key_that_cannot_be_kept_is_refused(
    author: APIClient, greeting: dict[str, Any], key: str
) -> None:
    answer = execute(author, greeting, **{"Idempotency-Key": key})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "Idempotency-Key"


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({"priority": 10}, ["priority"]),
        ({"priority": "5"}, ["priority"]),
        ({"priority": True, "version": 0}, ["priority", "version"]),
        ({"priority": 10**30}, ["priority"]),
        ({"version": 10**30}, ["version"]),
        ({"parms": {}}, ["parms"]),
        ([], [""]),
        ("text", [""]),
    ],
)
def test_a_body_that_is_not_understood_is_named(
    author: APIClient, greeting: dict[str, Any], body: Any, paths: list[str]
) -> None:
    answer = author.post(f"/v1/WorkflowExecution/{greeting['id']}/execute", body, format="json")

    assert answer.status_code == 422
    assert sorted(problem["path"] for problem in answer.json()["errors"]) == paths


def test_a_workflow_without_version_or_switched_off_is_a_conflict(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    draft = author.post("/v1/Workflow", {"name": "draft"}, format="json").json()
    author.patch(f"/v1/Workflow/{greeting['id']}", {"enabled": False}, format="json")

    assert execute(author, draft).json()["code"] == "not_published"
    assert execute(author, greeting).json()["code"] == "workflow_disabled"
    assert execute(author, draft).status_code == execute(author, greeting).status_code == 409


def test_an_unknown_version_is_not_found(author: APIClient, greeting: dict[str, Any]) -> None:
    answer = author.post(
        f"/v1/WorkflowExecution/{greeting['id']}/execute",
        {"params": {"name": "Ada"}, "version": 9},
        format="json",
    )

    assert answer.status_code == 404


def test_a_batch_is_all_or_nothing(author: APIClient, greeting: dict[str, Any]) -> None:
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute-batch"

    good = author.post(address, {"payloads": [{"name": str(n)} for n in range(5)]}, format="json")
    bad = author.post(
        address, {"payloads": [{"name": "a"}, {"name": 1}, {}, {"name": "b"}]}, format="json"
    )

    assert good.status_code == 202
    assert [
        author.get(f"/v1/WorkflowExecution/{pk}").json()["triggerPayload"]["name"]
        for pk in good.json()["ids"]
    ] == ["0", "1", "2", "3", "4"]
    assert bad.status_code == 422
    assert {problem["path"] for problem in bad.json()["errors"]} == {
        "payloads[1].name", "payloads[2]",
    }  # fmt: skip
    assert WorkflowExecution.objects.count() == 5


def test_the_payloads_of_a_batch_share_one_budget_for_their_checks(author: APIClient) -> None:
    # Each would pass the check on its own: 2**12 evaluations of the innermost part.
    workflow = publish({"tasks": [task("one")], "input": doubling(12)})
    address = f"/v1/WorkflowExecution/{workflow.pk}/execute-batch"
    assert author.post(address, {"payloads": [{"a": 1}]}, format="json").status_code == 202

    refused = author.post(address, {"payloads": [{"a": 1}] * 1_000}, format="json")

    assert refused.status_code == 422
    [problem] = refused.json()["errors"]
    assert problem["code"] == "schema.budget"
    number = int(problem["path"].removeprefix("payloads[").removesuffix("]"))
    assert 1 < number < 100, "the check of the others was not begun"
    assert "the 1,000 payloads of one request" in problem["message"]
    assert WorkflowExecution.objects.count() == 1


def test_a_batch_of_a_thousand_ordinary_payloads_is_checked_in_full(author: APIClient) -> None:
    settings = {"concurrency": {"key": "{{ input.customer.email | lower }}-{{ input.id }}"}}
    workflow = publish({"tasks": [task("one")], "input": ORDERS, "settings": settings})
    payloads = [order(f"6ba7b810-9dad-11d1-80b4-{n:012}") for n in range(1_000)]

    answer = author.post(
        f"/v1/WorkflowExecution/{workflow.pk}/execute-batch", {"payloads": payloads}, format="json"
    )

    assert answer.status_code == 202, answer.content[:500]
    assert len(answer.json()["ids"]) == 1_000


@pytest.mark.parametrize("payloads", [[{}] * 1001, {}, "x", None])
def test_a_batch_of_the_wrong_shape_is_refused(
    author: APIClient, greeting: dict[str, Any], payloads: Any
) -> None:
    answer = author.post(
        f"/v1/WorkflowExecution/{greeting['id']}/execute-batch",
        {"payloads": payloads},
        format="json",
    )

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "payloads"


def test_past_the_pending_limit_the_answer_says_when_to_come_back(
    author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    workspace.tier = Tier.objects.create(name="tiny", max_concurrent=1, max_pending=1)
    workspace.save()

    answers = [execute(author, greeting) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert [answer.json().get("state") for answer in answers[:2]] == ["RUNNING", "PENDING"]
    assert int(answers[2]["Retry-After"]) > 0


def test_the_list_filters_and_leaves_large_values_out(
    author: APIClient, greeting: dict[str, Any], django_assert_max_num_queries: Any
) -> None:
    ids = [execute(author, greeting).json()["id"] for _ in range(3)]
    author.post(f"/v1/WorkflowExecution/{ids[1]}/cancel")
    middle = author.get(f"/v1/WorkflowExecution/{ids[1]}").json()["createdAt"]

    def listed(query: str) -> list[str]:
        with django_assert_max_num_queries(2):
            answer = author.get(f"/v1/WorkflowExecution?{query}")
        assert answer.status_code == 200, answer.content
        large = {"triggerPayload", "contextData", "output", "errorStackTrace", "archivedAt"}
        assert all(set(row) == FIELDS - large for row in answer.json())
        return [row["id"] for row in answer.json()]

    assert listed("") == ids[::-1]
    assert listed("state=CANCELLED") == [ids[1]]
    assert listed(f"workflowId={greeting['id']}&limit=1") == [ids[2]]
    assert listed(f"workflowId={uuid4()}") == []
    assert listed("triggerType=CRON") == []
    assert listed(f"createdAfter={middle}") == [ids[2]]
    assert listed(f"createdBefore={middle}") == [ids[0]]


@pytest.mark.parametrize(
    "query",
    ["state=running", "workflowId=5", "triggerType=x", "createdAfter=yesterday", "State=RUNNING",
     "workflowId=%00", "createdBefore=0001-01-01T00:00:00%2B23:00"],
)  # fmt: skip
def test_a_filter_that_is_not_understood_is_named(author: APIClient, query: str) -> None:
    answer = author.get(f"/v1/WorkflowExecution?{query}")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == query.partition("=")[0]


def test_pause_resume_and_cancel_go_by_the_state(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    address = f"/v1/WorkflowExecution/{execute(author, greeting).json()['id']}"

    def move(name: str) -> tuple[int, str]:
        answer = author.post(f"{address}/{name}", {"reason": "because"}, format="json")
        return answer.status_code, answer.json()["state"]

    assert move("resume") == (409, "RUNNING")
    assert move("pause") == (200, "PAUSED")
    assert move("pause") == (409, "PAUSED")
    assert move("resume") == (200, "RUNNING")
    assert move("cancel") == (200, "CANCELLED")
    assert move("cancel") == (409, "CANCELLED")
    reasons = Activity.objects.filter(reason="because").values_list("action", flat=True)
    assert sorted(reasons) == ["execution.cancel", "execution.pause", "execution.resume"]


def test_a_stack_trace_is_for_administrators(
    author: APIClient, admin: APIClient, greeting: dict[str, Any]
) -> None:
    pk = execute(author, greeting).json()["id"]
    WorkflowExecution.objects.filter(pk=pk).update(error_stack_trace="Traceback: secret")

    assert author.get(f"/v1/WorkflowExecution/{pk}").json()["errorStackTrace"] is None
    shown = admin.get(f"/v1/WorkflowExecution/{pk}").json()
    assert shown["errorStackTrace"] == "Traceback: secret"


def test_the_queue_starts_and_tells_what_became_of_it(
    author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    accepted = author.post(
        "/api/v1/workflow/executions/start",
        {
            "workflowDefinitionId": greeting["id"],
            "workspaceId": str(workspace.id),
            "input": {"name": "Ada"},
        },
        format="json",
    )

    assert accepted.status_code == 202
    assert set(accepted.json()) == {"queueId", "status"}
    queue_id = accepted.json()["queueId"]
    item = author.get(f"/api/v1/workflow/executions/queue/{queue_id}").json()
    assert item == {"queueId": queue_id, "status": "DISPATCHED", "executionId": queue_id}


def test_a_queue_item_is_pending_until_admitted_and_failed_when_never_admitted(
    author: APIClient, greeting: dict[str, Any], workspace: Workspace
) -> None:
    workspace.tier = Tier.objects.create(name="tiny", max_concurrent=1)
    workspace.save()
    execute(author, greeting)
    waiting = execute(author, greeting).json()["id"]
    address = f"/api/v1/workflow/executions/queue/{waiting}"

    assert author.get(address).json()["status"] == "PENDING"
    author.post(f"/v1/WorkflowExecution/{waiting}/cancel")
    assert author.get(address).json()["status"] == "FAILED"


def test_the_queue_answers_for_elsewhere_as_for_unknown(
    author: APIClient,
    greeting: dict[str, Any],
    workspace: Workspace,
    elsewhere: Workspace,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
) -> None:
    both = member("WORKFLOW", elsewhere, name="both")
    both.valkyr_memberships.create(workspace=workspace, role="WORKFLOW")

    def start(client: APIClient, workflow: Any, place: Any) -> int:
        body = {"workflowDefinitionId": str(workflow), "workspaceId": str(place)}
        answer = client.post("/api/v1/workflow/executions/start", body, format="json")
        return int(answer.status_code)

    assert start(author, uuid4(), workspace.id) == 404
    assert start(author, greeting["id"], elsewhere.id) == 404
    assert start(client_of(both), greeting["id"], elsewhere.id) == 404
    assert start(author, greeting["id"], uuid4()) == 404
    assert WorkflowExecution.objects.count() == 0
