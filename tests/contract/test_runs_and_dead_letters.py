"""Runs and dead letters over HTTP."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from runners.models import Run

pytestmark = pytest.mark.django_db
RUN = {
    "id", "executionId", "taskId", "execModuleId", "attempt", "state", "leaseUntil", "leasedBy",
    "runnerId", "idempotencyKey", "inputsHash", "configHash", "startedAt", "finishedAt",
    "heartbeatAt", "outputs", "error", "errorType", "retryAfter", "durationMs", "costTokens",
    "stepPath", "outcome", "inputs", "queuedAt", "module", "waitsFor", "cachedFrom", "superseded",
    "progress", "wake", "logs", "errorDetails", "crashes", "crashCause", "suspect",
}  # fmt: skip
LARGE = {"inputs", "outputs", "progress", "wake", "logs", "errorDetails"}
LETTER = {
    "id", "runId", "executionId", "taskId", "failureReason", "failureType", "originalInputs",
    "originalConfig", "quarantinedAt", "reviewedBy", "resolution", "resolvedAt", "notes",
    "workflowId", "stepPath", "fingerprint", "occurrences", "expiresAt", "requeuedRunId",
    "requeuedExecutionId", "groupId", "version", "module", "errorType", "exception", "httpStatus",
    "target", "worker", "attempts", "redrives", "follows", "pinned", "seenAt", "labels",
}  # fmt: skip


@pytest.fixture
def runs(author: APIClient, greeting: dict[str, Any]) -> list[Run]:
    """Create one live run in each of three executions; return them, oldest first."""
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute-batch"
    payloads = [{"name": name} for name in ("a", "b", "c")]
    ids = author.post(address, {"payloads": payloads}, format="json").json()["ids"]
    return [Run.objects.get(execution_id=pk) for pk in ids]


@pytest.fixture
def letters(author: APIClient, runs: list[Run]) -> list[dict[str, Any]]:
    """Quarantine these runs manually; return their dead letters."""
    return [
        author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "poison"}, format="json").json()
        for run in runs
    ]


def test_a_run_is_shown_in_full(author: APIClient, runs: list[Run]) -> None:
    shown = author.get(f"/v1/Run/{runs[0].pk}").json()

    assert set(shown) == RUN
    assert shown["stepPath"] == "greet.main"
    assert shown["executionId"] == str(runs[0].execution_id)
    assert shown["state"] == "PENDING"


def test_the_list_of_runs_filters_and_pages(
    author: APIClient, runs: list[Run], django_assert_max_num_queries: Any
) -> None:
    def listed(query: str) -> list[str]:
        with django_assert_max_num_queries(2):
            answer = author.get(f"/v1/Run?{query}")
        assert answer.status_code == 200, answer.content
        assert all(set(row) == RUN - LARGE for row in answer.json())
        return [row["id"] for row in answer.json()]

    ids = [str(run.pk) for run in runs]
    assert sorted(listed("")) == sorted(ids)
    assert listed(f"executionId={runs[1].execution_id}") == [ids[1]]
    assert sorted(listed(f"taskId={runs[0].task_id}&state=PENDING")) == sorted(ids)
    assert listed("state=SUCCESS") == []
    first = author.get("/v1/Run?limit=2")
    rest = author.get(first["Link"].partition(">")[0].removeprefix("<"))
    assert {row["id"] for row in [*first.json(), *rest.json()]} == set(ids)
    assert "Link" not in rest


def test_a_run_quarantined_by_hand_is_a_dead_letter(
    author: APIClient, letters: list[dict[str, Any]], runs: list[Run]
) -> None:
    assert set(letters[0]) == LETTER
    assert letters[0]["failureType"] == "MANUAL"
    assert letters[0]["resolution"] == "PENDING"
    assert "poison" in letters[0]["failureReason"]
    assert author.get(f"/v1/Run/{runs[0].pk}").json()["state"] == "DLQ"
    again = author.post(f"/v1/Run/{runs[0].pk}/quarantine", {"reason": "x"}, format="json")
    assert again.status_code == 409
    assert again.json()["state"] == "DLQ"


def test_a_dead_letter_goes_home_once_with_overrides(
    author: APIClient, letters: list[dict[str, Any]]
) -> None:
    address = f"/v1/DeadLetterQueue/{letters[0]['id']}"

    run = author.post(f"{address}/requeue", {"values": {"text": "Hi"}}, format="json")
    again = author.post(f"{address}/requeue")

    assert run.status_code == 200, run.content
    assert set(run.json()) == RUN
    assert run.json()["executionId"] == letters[0]["executionId"]
    assert run.json()["state"] == "PENDING"
    assert run.json()["attempt"] == 2
    overrides = Run.objects.get(pk=run.json()["id"]).overrides
    assert overrides["inputs"] == {"values": {"text": "Hi"}}
    assert again.status_code == 409
    assert again.json()["state"] == "REQUEUED"
    shown = author.get(address).json()
    assert shown["resolution"] == "REQUEUED"
    assert shown["requeuedRunId"] == run.json()["id"]
    assert shown["reviewedBy"] == "workflow-default"


@pytest.mark.parametrize("body", [[], [1], "x", 5, True])
def test_overrides_are_an_object(
    author: APIClient, letters: list[dict[str, Any]], body: Any
) -> None:
    answer = author.post(f"/v1/DeadLetterQueue/{letters[0]['id']}/requeue", body, format="json")

    assert answer.status_code == 422
    assert DeadLetterEntry.objects.filter(resolution="PENDING").count() == 3


def test_a_dead_letter_is_discarded_with_notes(
    author: APIClient, letters: list[dict[str, Any]]
) -> None:
    address = f"/v1/DeadLetterQueue/{letters[0]['id']}"

    discarded = author.post(f"{address}/discard", {"notes": "known"}, format="json")
    again = author.post(f"{address}/discard", {"notes": "known"}, format="json")

    assert discarded.status_code == 200
    assert discarded.json()["resolution"] == "DISCARDED"
    assert "known" in discarded.json()["notes"]
    assert discarded.json()["resolvedAt"]
    assert again.status_code == 409


def test_the_list_of_dead_letters_filters_in_few_queries(
    author: APIClient, letters: list[dict[str, Any]], django_assert_max_num_queries: Any
) -> None:
    given_up = f"/v1/DeadLetterQueue/{letters[0]['id']}/discard"
    author.post(given_up, {"notes": "known"}, format="json")

    def listed(query: str) -> list[str]:
        with django_assert_max_num_queries(3):
            answer = author.get(f"/v1/DeadLetterQueue?{query}")
        assert answer.status_code == 200, answer.content
        small = LETTER - {"originalInputs", "originalConfig"}
        assert all(set(row) == small for row in answer.json())
        assert all(row["occurrences"] == 3 for row in answer.json())
        return [row["id"] for row in answer.json()]

    ids = [letter["id"] for letter in letters]
    assert listed("") == ids[::-1]
    assert listed("resolution=PENDING") == ids[:0:-1]
    assert listed("failureType=MAX_RETRIES") == []
    assert listed(f"fingerprint={letters[0]['fingerprint']}&limit=1") == ids[2:]
    assert listed(f"workflowId={letters[0]['workflowId']}") == ids[::-1]
    assert listed(f"quarantinedAfter={letters[1]['quarantinedAt']}") == ids[2:]
    assert listed(f"groupId={letters[0]['groupId']}&version=1&redriven=false") == ids[::-1]
    assert listed("pinned=true") == listed("httpStatus=500") == listed("seen=true") == []


@pytest.mark.parametrize("query", ["resolution=open", "workflowId=x", "fingerprint=%00", "x=1"])
def test_a_filter_that_is_not_understood_is_named(author: APIClient, query: str) -> None:
    answer = author.get(f"/v1/DeadLetterQueue?{query}")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == query.partition("=")[0]
