"""Other ends of a dead letter over HTTP: skipped, restored, pinned; copied as text."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry, GroupNews
from executions.models import Activity, WorkflowExecution
from runners.models import Run

pytestmark = pytest.mark.django_db
TWO: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "two",
    "tasks": [
        {"id": "first", "use": "data.set", "with": {"values": {"n": 1}}},
        {"id": "second", "use": "data.set", "with": {"values": {"n": 2}}, "after": "first"},
    ],
}


@pytest.fixture
def letter(author: APIClient) -> str:
    """Return the path of a dead letter of the first of two steps."""
    made = author.post("/v1/Workflow", {"definition": TWO}, format="json").json()
    assert author.post(f"/v1/Workflow/{made['id']}/publish").status_code == 201
    author.post(f"/v1/WorkflowExecution/{made['id']}/execute", {"params": {}}, format="json")
    run = Run.objects.get(step_path="first.main")
    Run.objects.filter(pk=run.pk).update(inputs={"values": {"n": 1, "password": "hunter2"}})
    dead = author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "poison"}, format="json").json()
    return f"/v1/DeadLetterQueue/{dead['id']}"


def post(client: APIClient, address: str, **body: Any) -> Any:
    return client.post(address, body, format="json")


def test_a_skipped_step_lets_its_execution_go_on(author: APIClient, letter: str) -> None:
    run = post(author, f"{letter}/skip", notes="not needed")
    again = post(author, f"{letter}/skip")

    assert run.status_code == 200, run.content
    assert (run.json()["state"], run.json()["attempt"]) == ("SKIPPED", 2)
    assert (again.status_code, again.json()["state"]) == (409, "SKIPPED")
    shown = author.get(letter).json()
    assert (shown["resolution"], shown["notes"]) == ("SKIPPED", "not needed")
    assert shown["requeuedRunId"] == run.json()["id"]
    assert WorkflowExecution.objects.get().state == "SUCCESS"
    assert Run.objects.get(step_path="second.main").state == "SKIPPED"
    assert Activity.objects.get(action="dead_letter.skipped").reason == "not needed"


def test_a_cancelled_execution_skips_nothing(author: APIClient, letter: str) -> None:
    WorkflowExecution.objects.update(state="CANCELLED")

    assert post(author, f"{letter}/skip").status_code == 409
    assert not Run.objects.filter(state="SKIPPED").exists()


def test_a_discard_is_taken_back_once(author: APIClient, letter: str) -> None:
    assert post(author, f"{letter}/restore").status_code == 409
    assert post(author, f"{letter}/discard", notes=" ").status_code == 422
    assert post(author, f"{letter}/discard").status_code == 422
    assert post(author, f"{letter}/discard", notes="known").status_code == 200

    restored = post(author, f"{letter}/restore", reason="a mistake")
    again = post(author, f"{letter}/restore")

    assert (restored.status_code, again.status_code) == (200, 409)
    shown = restored.json()
    assert (shown["resolution"], shown["resolvedAt"], shown["expiresAt"], shown["notes"]) == (
        "PENDING", None, None, "known",
    )  # fmt: skip
    assert sum(GroupNews.objects.values_list("open", flat=True)) == 1
    assert post(author, f"{letter}/requeue").status_code == 200


def test_what_a_roll_back_undid_is_not_restored(author: APIClient, letter: str) -> None:
    post(author, f"{letter}/discard", notes="known")
    Run.objects.update(superseded=True)

    answer = post(author, f"{letter}/restore")

    assert answer.status_code == 409
    assert "roll-back" in answer.json()["detail"]


def test_pinning_says_so_and_is_recorded_once(author: APIClient, letter: str) -> None:
    for _ in range(2):
        assert post(author, f"{letter}/pin", reason="audit").json()["pinned"] is True
    assert post(author, f"{letter}/unpin").json()["pinned"] is False

    assert Activity.objects.filter(action="dead_letter.pinned").count() == 1
    assert DeadLetterEntry.objects.get().resolution == "PENDING"


def test_copies_are_text_without_secrets(author: APIClient, letter: str) -> None:
    replay = author.get(f"{letter}/pytest")
    command = author.get(f"{letter}/curl")

    assert replay.status_code == 200
    assert replay["Content-Type"] == "text/plain; charset=utf-8"
    assert "MODULE = 'data.set'" in replay.content.decode()
    assert "hunter2" not in replay.content.decode()
    assert (command.status_code, command.json()["code"]) == (422, "cannot_copy")
    Run.objects.update(module="http.request")
    inputs = {"url": "https://shop.test/", "headers": {"Authorization": "hunter2"}}
    DeadLetterEntry.objects.update(module="http.request", original_inputs=inputs)
    assert "--url 'https://shop.test/'" in author.get(f"{letter}/curl").content.decode()


def test_a_reader_without_payloads_copies_nothing(
    author: APIClient,
    letter: str,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
) -> None:
    client = client_of(member("SYSTEM"))

    for verb in ("curl", "pytest"):
        assert client.get(f"{letter}/{verb}").status_code == 403
