"""`Idempotency-Key` on operations that create: the same answer again, and nothing created twice."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from threading import Event as Flag
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from rest_framework.test import APIClient

from executions.access import TokenLimits
from executions.models import (
    Event,
    KeptAnswer,
    Keyset,
    Workflow,
    WorkflowExecution,
    WorkflowVersion,
    Workspace,
)
from executions.publishing import versioning
from executions.tasks import prune_answers
from tests.support.document import document
from tests.support.rivals import Rivals
from valkyr_plugins.timetravel.models import Checkpoint

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "once"}

EXPECTED = {
    "createWorkflow",
    "importWorkflow",
    "importN8nWorkflow",
    "publishWorkflow",
    "executeWorkflowBatch",
    "publishEvent",
    "forkWorkflowExecution",
    "replayWorkflowExecution",
    "createCheckpoint",
}
# Answers nothing but 409.
REFUSED = {"createTrigger"}


def create(client: APIClient, name: str = "orders", key: str = "once") -> Any:
    return client.post(
        "/v1/Workflow", {"name": name}, format="json", headers={"Idempotency-Key": key}
    )


@pytest.fixture
def running(author: APIClient, greeting: dict[str, Any]) -> str:
    """Return the id of a running execution."""
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    made = author.post(address, {"params": {"name": "Ada"}}, format="json")
    return str(made.json()["id"])


def test_the_same_request_again_gets_the_same_answer_and_makes_nothing(author: APIClient) -> None:
    first, again = create(author), create(author)

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert again["Location"] == first["Location"]
    assert again["ETag"] == first["ETag"]
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Workflow.objects.count() == 1


def test_without_a_key_every_request_makes_something(author: APIClient) -> None:
    for name in ("a", "b"):
        assert author.post("/v1/Workflow", {"name": name}, format="json").status_code == 201

    assert Workflow.objects.count() == 2
    assert not KeptAnswer.objects.exists()


def test_the_order_of_the_bodys_keys_does_not_matter(author: APIClient) -> None:
    bodies = ('{"name": "w", "slug": "w"}', '{"slug":"w","name":"w"}')

    first, again = (
        author.post("/v1/Workflow", body, content_type="application/json", headers=KEY)
        for body in bodies
    )

    assert first.status_code == 201
    assert first.json() == again.json()


def test_a_key_with_another_body_or_for_another_operation_is_refused(author: APIClient) -> None:
    create(author)

    other_body = create(author, "invoices")
    other_operation = author.post("/v1/Event", {"name": "orders"}, format="json", headers=KEY)

    for answer in (other_body, other_operation):
        assert (answer.status_code, answer.json()["code"]) == (409, "key_reused")
    assert (Workflow.objects.count(), Event.objects.count()) == (1, 0)


def test_two_callers_may_use_one_key(
    author: APIClient, member: Callable[..., Any], client_of: Callable[[Any], APIClient]
) -> None:
    other = client_of(member("WORKFLOW", name="other"))

    first, second = create(author, "a"), create(other, "b")

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]


def test_a_token_with_other_scopes_is_not_shown_what_its_users_other_token_was(
    member: Callable[..., Any], client_of: Callable[[Any], APIClient], workspace: Workspace
) -> None:
    user = member("WORKFLOW")
    assert create(client_of(user)).status_code == 201
    user.token_limits = TokenLimits(workspace.pk, frozenset({"author"}))

    answer = create(client_of(user))

    assert (answer.status_code, answer.json()["code"]) == (409, "key_reused")


def test_an_error_is_not_kept(author: APIClient) -> None:
    refused = create(author, "")
    accepted = create(author, "orders")

    assert (refused.status_code, accepted.status_code) == (422, 201)


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "\u00fc"])
def test_a_key_that_cannot_be_kept_is_refused(author: APIClient, key: str) -> None:
    answer = create(author, key=key)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "bad_key"
    assert not Workflow.objects.exists()


def test_after_a_day_the_key_is_new_again(author: APIClient) -> None:
    create(author)
    KeptAnswer.objects.update(created_at=F("created_at") - timedelta(hours=24, seconds=1))

    answer = create(author, "invoices")

    assert answer.status_code == 201
    assert KeptAnswer.objects.count() == 1


def test_answers_older_than_a_day_are_pruned(author: APIClient) -> None:
    create(author, "a", key="old")
    KeptAnswer.objects.update(created_at=F("created_at") - timedelta(hours=24, seconds=1))
    create(author, "b", key="new")

    assert prune_answers() == 1
    assert KeptAnswer.objects.get().key == "new"


def test_what_is_kept_cannot_be_read_in_the_database(author: APIClient) -> None:
    create(author, "very-secret-name")

    assert b"very-secret-name" not in bytes(KeptAnswer.objects.get().sealed)


def test_every_operation_that_creates_does_it_once(
    author: APIClient, greeting: dict[str, Any], running: str
) -> None:
    execution, workflow = f"/v1/WorkflowExecution/{running}", f"/v1/Workflow/{greeting['id']}"
    changed = greeting["definition"] | {"description": "Another."}
    author.patch(workflow, {"definition": changed}, format="json")
    batch = f"/v1/WorkflowExecution/{greeting['id']}/execute-batch"
    requests: list[tuple[str, Any, Any]] = [
        (f"{workflow}/publish", {}, WorkflowVersion.objects.count),
        (batch, {"payloads": [{"name": "x"}] * 2}, WorkflowExecution.objects.count),
        ("/v1/Event", {"name": "ordered"}, Event.objects.count),
        (f"{execution}/fork", {}, WorkflowExecution.objects.count),
        (f"{execution}/replay", {}, WorkflowExecution.objects.count),
        (f"{execution}/checkpoints", {"name": "here"}, Checkpoint.objects.count),
    ]

    for number, (address, body, count) in enumerate(requests):
        headers = {"Idempotency-Key": f"key-{number}"}
        first = author.post(address, body, format="json", headers=headers)
        made = count()
        again = author.post(address, body, format="json", headers=headers)

        assert first.status_code in {200, 201, 202}, (address, first.content)
        assert (again.status_code, again.json()) == (first.status_code, first.json()), address
        assert again.get("Location") == first.get("Location")
        assert again["Idempotency-Replayed"] == "true"
        assert count() == made, address


def test_an_import_is_done_once_and_its_query_is_part_of_the_request(
    author: APIClient, workspace: Workspace
) -> None:
    def send(address: str) -> Any:
        text = "schema: valkyr/1\nname: imported\n"
        return author.post(address, text, content_type="application/yaml", headers=KEY)

    first, again = send("/v1/Workflow/import"), send("/v1/Workflow/import")
    elsewhere = send(f"/v1/Workflow/import?workspaceId={workspace.pk}")

    assert first.status_code == 201, first.content
    assert first.json() == again.json()
    assert elsewhere.status_code == 409
    assert Workflow.objects.count() == 1


def test_the_document_says_which_operations_take_a_key() -> None:
    schema = document()
    operations = [one for methods in schema["paths"].values() for one in methods.values()]
    keyed = {
        one["operationId"]
        for one in operations
        if any(
            p["name"] == "Idempotency-Key" and p["in"] == "header"
            for p in one.get("parameters", ())
        )
        and any("Idempotency-Replayed" in a.get("headers", {}) for a in one["responses"].values())
    }

    creating = {one["operationId"] for one in operations if "201" in one["responses"]}
    assert keyed >= EXPECTED | (creating - REFUSED)
    assert all("409" in one["responses"] for one in operations if one["operationId"] in keyed)


def test_without_an_installation_key_a_keyed_request_is_refused_and_makes_nothing(
    author: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Keyset.objects.all().delete()
    monkeypatch.delenv("VALKYR_KEY")

    answer = create(author)

    assert (answer.status_code, answer.json()["code"]) == (503, "no_installation_key")
    assert not Workflow.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_second_request_while_the_first_is_under_way_is_told_to_ask_again(
    author: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = Flag(), Flag()
    create_workflow = versioning.create_workflow

    def slow(*args: Any, **kwargs: Any) -> Workflow:
        begun.set()
        assert go_on.wait(60)
        return create_workflow(*args, **kwargs)

    monkeypatch.setattr(versioning, "create_workflow", slow)
    with Rivals() as rivals:
        first: Future[Any] = rivals.begin(create, author)
        assert begun.wait(60)
        second = create(author)
        go_on.set()

        assert first.result(60).status_code == 201
    assert (second.status_code, second.json()["code"]) == (409, "in_progress")
    assert second["Retry-After"] == "1"
    assert create(author).json() == first.result().json()


@pytest.mark.django_db(transaction=True)
def test_of_many_requests_at_once_one_makes_something(author: APIClient) -> None:
    with Rivals(16) as rivals:
        answers = [rivals.begin(create, author) for _ in range(32)]
        found = [answer.result(60) for answer in answers]

    assert Workflow.objects.count() == 1
    assert {answer.status_code for answer in found} <= {201, 409}
    ids = {answer.json()["id"] for answer in found if answer.status_code == 201}
    assert len(ids) == 1


@pytest.mark.django_db(transaction=True)
def test_a_request_whose_answer_cannot_be_kept_makes_nothing(
    author: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE executions_keptanswer ADD CONSTRAINT nothing_is_kept CHECK (false)"
        )
    try:
        with pytest.raises(Exception, match="nothing_is_kept"), transaction.atomic():
            create(author)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE executions_keptanswer DROP CONSTRAINT nothing_is_kept")

    assert not Workflow.objects.exists()
