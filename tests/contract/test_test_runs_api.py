"""Test runs over HTTP: a draft, or a part of it, runs once and changes nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, Trigger, Workflow, WorkflowExecution, WorkflowVersion

pytestmark = pytest.mark.django_db

SHOP: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "shop",
    "settings": {"concurrency": {"key": "one"}, "onFailure": {"workflow": "shop"}},
    "tasks": [
        {"id": "fetch", "use": "http.request", "with": {"url": "https://a.example"}},
        {
            "id": "dear",
            "use": "flow.if",
            "with": {"condition": "{{ tasks.fetch.output.body.total > 10 }}"},
            "after": "fetch",
        },
        {
            "id": "greet",
            "use": "data.set",
            "with": {"values": {"text": "{{ tasks.fetch.output.body.name }}"}},
        },
        {"id": "tell", "use": "no.such.module"},
    ],
    "edges": [
        {"from": "dear", "to": "greet", "on": "true"},
        {"from": "greet", "to": "tell"},
    ],
    "triggers": [{"type": "WEBHOOK", "auth": "hmac"}],
    "output": "{{ tasks.tell.output }}",
}
HOSTILE = {"body": {"name": "{{ secrets.a.b }} {% x %}", "{{ key }}": 1, "total": 12}}


@pytest.fixture
def shop(author: APIClient) -> str:
    made = author.post("/v1/Workflow", {"name": "shop", "definition": SHOP}, format="json")
    return str(made.json()["id"])


def run(client: APIClient, workflow: str, **body: Any) -> Any:
    return client.post(f"/v1/Workflow/{workflow}/test", body, format="json")


def test_a_part_of_an_unfinished_draft_runs_with_pinned_results(
    author: APIClient, shop: str
) -> None:
    answer = run(author, shop, upTo="greet", pinned={"fetch": {"output": HOSTILE}})

    assert answer.status_code == 202, answer.json()
    assert answer.json()["test"] is True
    version = author.get(f"/v1/Workflow/{shop}/versions/{answer.json()['version']}").json()
    assert version["kind"] == "test"
    assert version["publishedBy"] == "workflow-default"
    assert [task["id"] for task in version["source"]["tasks"]] == ["fetch", "dear", "greet"]
    assert version["source"]["tasks"][0]["use"] == "flow.pinned"
    assert not {"output", "triggers"} & set(version["source"])
    assert version["source"]["settings"] == {}
    assert author.get(f"/v1/WorkflowExecution/{answer.json()['id']}").json()["test"] is True


def test_a_test_run_leaves_draft_and_triggers_and_latest_version_alone(
    author: APIClient, shop: str
) -> None:
    before = author.get(f"/v1/Workflow/{shop}")

    run(author, shop, upTo="fetch", pinned={"fetch": {"output": 1}})

    after = author.get(f"/v1/Workflow/{shop}")
    assert (after.json(), after["ETag"]) == (before.json(), before["ETag"])
    assert not Trigger.objects.exists()
    assert Workflow.objects.get(pk=shop).latest_version is None
    assert Activity.objects.filter(action="workflow.test").count() == 1


def test_a_given_definition_runs_in_place_of_the_draft(author: APIClient, shop: str) -> None:
    other = {"schema": "valkyr/1", "name": "o", "tasks": [{"id": "a", "use": "flow.noop"}]}

    answer = run(author, shop, definition=other, params={"x": 1})

    assert answer.status_code == 202
    assert answer.json()["triggerPayload"] == {"x": 1}
    assert author.get(f"/v1/Workflow/{shop}").json()["definition"] == SHOP


def test_what_a_run_from_a_task_needs_is_named_where_it_is_not_pinned(
    author: APIClient, shop: str
) -> None:
    answer = run(author, shop, **{"from": "greet", "upTo": "greet"})

    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {
            "path": "pinned.fetch",
            "code": "not_pinned",
            "message": (
                'a run from "greet" does not include "fetch", which "greet" needs: set its output '
                'under pinned["fetch"]'
            ),
        }
    ]
    assert not WorkflowVersion.objects.exists()


def test_a_run_from_a_task_needs_what_its_undo_reads(author: APIClient, shop: str) -> None:
    undo = {"use": "flow.noop", "with": {"value": "{{ tasks.a.output }}"}}
    tasks = [
        {"id": "a", "use": "flow.noop"},
        {"id": "b", "use": "flow.noop", "after": "a"},
        {"id": "c", "use": "flow.noop", "after": "b", "undo": undo},
    ]
    asked = {"definition": {**SHOP, "tasks": tasks, "edges": [], "output": None}, "from": "b"}

    refused = run(author, shop, **asked)
    accepted = run(author, shop, **asked, pinned={"a": {"output": 1}})

    errors = [(one["path"], one["code"]) for one in refused.json()["errors"]]
    assert (refused.status_code, errors) == (422, [("pinned.a", "not_pinned")])
    assert accepted.status_code == 202, accepted.json()


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"upTo": "gret"}, "upTo", "unknown_task"),
        ({"from": "nowhere"}, "from", "unknown_task"),
        ({"pinned": {"nobody": {}}}, "pinned.nobody", "unknown_task"),
        ({"pinned": {"dear": {"outcome": "maybe"}}}, "pinned.dear.outcome", "unknown_outcome"),
        ({"from": "tell", "upTo": "fetch"}, "upTo", "no_way"),
        ({"upTo": "tell"}, "tasks[3].use", "unknown_module"),
        ({"pinned": {"dear": 1}}, "pinned.dear", "invalid"),
        ({"pinned": [1]}, "pinned", "not_a_dict"),
        ({"upTo": 1}, "upTo", "invalid"),
        ({"params": {}, "definition": {"tasks": 1}}, "tasks", "type"),
        (
            {"definition": {"tasks": [1, {"id": 2}]}, "pinned": {"a": {}}},
            "pinned.a",
            "unknown_task",
        ),
    ],
)
def test_what_cannot_be_tested_is_told_with_its_place(
    author: APIClient, shop: str, body: dict[str, Any], path: str, code: str
) -> None:
    answer = run(author, shop, **body)

    assert answer.status_code == 422
    assert (path, code) in [(one["path"], one["code"]) for one in answer.json()["errors"]]
    assert not WorkflowVersion.objects.exists()


def test_parameters_that_break_the_input_schema_leave_no_version_behind(
    author: APIClient, shop: str
) -> None:
    asking = {**SHOP, "input": {"type": "object", "required": ["name"]}}

    answer = run(author, shop, definition=asking, upTo="fetch")

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_payload")
    assert not WorkflowVersion.objects.exists()


def test_a_request_repeated_with_its_key_runs_nothing_twice(author: APIClient, shop: str) -> None:
    body = {"upTo": "fetch", "pinned": {"fetch": {"output": 1}}}
    address = f"/v1/Workflow/{shop}/test"

    first, again = (
        author.post(address, body, format="json", headers={"Idempotency-Key": "k"})
        for _ in range(2)
    )

    assert first.json()["id"] == again.json()["id"]
    assert WorkflowExecution.objects.count() == 1


def test_a_workflow_that_is_switched_off_can_be_tested(author: APIClient, shop: str) -> None:
    author.patch(f"/v1/Workflow/{shop}", {"enabled": False}, format="json")

    answer = run(author, shop, upTo="fetch", pinned={"fetch": {"output": 1}})

    assert answer.status_code == 202


def test_what_was_pinned_is_hidden_from_who_may_see_no_payloads(
    author: APIClient,
    shop: str,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
) -> None:
    run(author, shop, upTo="greet", pinned={"fetch": {"output": HOSTILE}})
    reader = member("USER", name="reader")
    client_of(member("ADMIN")).put(
        f"/v1/Workflow/{shop}/permissions",
        {"username": "reader", "permissions": ["READ"]},
        format="json",
    )

    version = client_of(reader).get(f"/v1/Workflow/{shop}/versions/1").json()

    assert "secrets.a.b" not in str(version)
    assert "view_payloads" in str(version["source"]["tasks"][0])
    assert "view_payloads" in str(version["definition"]["tasks"][0])


def test_lists_tell_test_runs_apart(author: APIClient, shop: str) -> None:
    plain = {"schema": "valkyr/1", "name": "o", "tasks": [{"id": "a", "use": "flow.noop"}]}
    author.patch(f"/v1/Workflow/{shop}", {"definition": plain}, format="json")
    author.post(f"/v1/Workflow/{shop}/publish")
    real = author.post(f"/v1/WorkflowExecution/{shop}/execute", {}, format="json").json()["id"]
    tried = run(author, shop).json()["id"]

    listed = {
        test: [one["id"] for one in author.get(f"/v1/WorkflowExecution?test={test}").json()]
        for test in ("true", "false")
    }
    kinds = {
        kind: [
            one["version"] for one in author.get(f"/v1/Workflow/{shop}/versions?kind={kind}").json()
        ]
        for kind in ("test", "published")
    }

    assert listed == {"true": [tried], "false": [real]}
    assert kinds == {"test": [2], "published": [1]}


def test_a_definition_that_is_stored_nowhere_is_validated(author: APIClient) -> None:
    answer = author.post("/v1/Workflow/validate", {"definition": SHOP}, format="json")

    assert answer.status_code == 200
    assert [one["path"] for one in answer.json()["problems"]] == ["tasks[3].use"]
