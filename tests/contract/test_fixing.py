"""A dead letter fixed by outputs that a user enters, over HTTP."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, WorkflowExecution, Workspace
from runners.models import Run
from runners.planning import plan_execution
from runners.repair.manual_results import check
from tests.support.jobs import run_jobs
from tests.support.workflows import publish, task

pytestmark = pytest.mark.django_db

GATE: dict[str, Any] = {
    "name": "gate",
    "variables": {"colour": "red"},
    "tasks": [
        {"id": "mail", "use": "data.template", "with": {"text": "x"}},
        {"id": "choose", "use": "flow.if", "with": {"condition": "{{ 1 == 1 }}"}},
        {"id": "set", "use": "flow.set_variables", "with": {"values": {"colour": "blue"}}},
    ],
    "edges": [{"from": "mail", "to": "choose"}, {"from": "choose", "to": "set", "on": "true"}],
    "output": "{{ vars.colour }}",
}


@pytest.fixture
def start(author: APIClient) -> Callable[..., str]:
    """Return a function that publishes and starts a workflow and returns the execution's id."""

    def begin(definition: dict[str, Any]) -> str:
        definition = {"schema": "valkyr/1", **definition}
        made = author.post("/v1/Workflow", {"definition": definition}, format="json").json()
        published = author.post(f"/v1/Workflow/{made['id']}/publish")
        assert published.status_code == 201, published.content
        address = f"/v1/WorkflowExecution/{made['id']}/execute"
        return str(author.post(address, {"params": {}}, format="json").json()["id"])

    return begin


@pytest.fixture
def dead(author: APIClient) -> Callable[[str, str], str]:
    """Return a function that quarantines an execution's live run of a step and returns the dead
    letter's path.
    """

    def kill(execution: str, path: str) -> str:
        run = Run.objects.get(execution_id=execution, step_path=path, state="PENDING")
        letter = author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "poison"}, format="json")
        assert letter.status_code == 200, letter.content
        return f"/v1/DeadLetterQueue/{letter.json()['id']}"

    return kill


def fix(client: APIClient, letter: str, **body: Any) -> Any:
    return client.post(f"{letter}/fix", body, format="json")


def test_an_execution_goes_on_with_the_results_a_person_gives(
    author: APIClient, start: Callable[..., str], dead: Callable[..., str]
) -> None:
    execution = start(GATE)
    letter = dead(execution, "mail.main")
    assert WorkflowExecution.objects.get().state == "FAILED"

    run = fix(author, letter, outputs={"text": "by hand"}, notes="the partner was down")
    again = fix(author, letter, outputs={"text": "by hand"})

    assert run.status_code == 200, run.content
    assert (run.json()["state"], run.json()["attempt"]) == ("SUCCESS", 2)
    assert run.json()["outputs"] == {"text": "by hand"}
    assert (again.status_code, again.json()["state"]) == (409, "FIXED")
    shown = author.get(letter).json()
    assert (shown["resolution"], shown["notes"]) == ("FIXED", "the partner was down")
    assert shown["requeuedRunId"] == run.json()["id"]
    line = Activity.objects.get(action="dead_letter.fixed")
    assert (line.reason, line.actor_name) == ("the partner was down", "workflow-default")
    assert line.details == {"runId": run.json()["id"], "outcome": "success"}

    chosen = fix(author, dead(execution, "choose.main"), outputs={"result": True}, outcome="true")
    assert chosen.status_code == 200, chosen.content
    written = fix(author, dead(execution, "set.main"), outputs={"colour": "green"})
    assert written.status_code == 200, written.content
    assert WorkflowExecution.objects.get().state == "RUNNING"  # its output is rendered elsewhere
    plan_execution.advance(UUID(execution))
    ended = author.get(f"/v1/WorkflowExecution/{execution}").json()
    assert (ended["state"], ended["output"]) == ("SUCCESS", "green")
    assert ended["contextData"] == {"colour": "green"}
    replay = author.post(
        f"/v1/WorkflowExecution/{execution}/replay", {"verify": True}, format="json"
    )
    run_jobs()
    assert author.get(replay.headers["Location"]).json()["result"]["differences"] == []


@pytest.mark.parametrize(
    ("step", "body", "path", "code"),
    [
        ("mail", {}, "outputs", "required"),
        ("mail", {"outputs": {"text": 5}}, "outputs.text", "type"),
        ("mail", {"outputs": None}, "outputs", "type"),
        ("mail", {"outputs": {"text": ""}, "outcome": "error"}, "outcome", "unknown_outcome"),
        ("choose", {"outputs": {}}, "outcome", "outcome_required"),
        ("choose", {"outputs": {}, "outcome": "maybe"}, "outcome", "unknown_outcome"),
        ("set", {"outputs": {"size": 1}}, "outputs.size", "unknown_variable"),
        ("set", {"outputs": []}, "outputs", "object"),
    ],
)
def test_a_result_the_step_could_not_have_come_to_is_refused(
    author: APIClient,
    start: Callable[..., str],
    dead: Callable[..., str],
    step: str,
    body: dict[str, Any],
    path: str,
    code: str,
) -> None:
    execution = start(GATE)
    letter = dead(execution, "mail.main")
    if step != "mail":
        fix(author, letter, outputs={"text": ""})
        letter = dead(execution, "choose.main")
    if step == "set":
        fix(author, letter, outputs={}, outcome="true")
        letter = dead(execution, "set.main")
    runs = Run.objects.count()

    answer = fix(author, letter, **body)

    assert answer.status_code == 422, answer.content
    assert (answer.json()["errors"][0]["path"], answer.json()["errors"][0]["code"]) == (path, code)
    assert Run.objects.count() == runs
    assert author.get(letter).json()["resolution"] == "PENDING"


def test_outputs_that_take_too_long_to_check_are_refused(
    author: APIClient, start: Callable[..., str], dead: Callable[..., str]
) -> None:
    read = {"id": "read", "use": "data.csv_parse", "with": {"text": "a"}}
    letter = dead(start({"name": "read", "tasks": [read]}), "read.main")
    outputs = {"rows": [{"a": "b"}] * 40_000}

    answer = fix(author, letter, outputs=outputs)

    assert answer.status_code == 422, answer.content
    assert [problem["code"] for problem in answer.json()["errors"]] == ["budget"]


@pytest.mark.parametrize("state", ["cancel", "pause"])
def test_what_is_over_cannot_be_fixed_and_what_is_paused_goes_on_when_resumed(
    author: APIClient, start: Callable[..., str], dead: Callable[..., str], state: str
) -> None:
    two = {
        "name": "two",
        "tasks": [
            {"id": "a", "use": "data.set", "with": {"values": {"n": 1}}},
            {"id": "b", "use": "data.set", "with": {"values": {"n": 2}}},
            {"id": "c", "use": "data.set", "with": {"values": {"n": 3}}, "after": "a"},
        ],
    }
    execution = start(two)
    letter = dead(execution, "a.main")
    address = f"/v1/WorkflowExecution/{execution}"
    assert author.post(f"{address}/{state}").status_code == 200

    answer = fix(author, letter, outputs={"n": 7})

    began = Run.objects.filter(step_path="c.main")
    if state == "cancel":
        assert (answer.status_code, answer.json()["state"]) == (409, "CANCELLED")
        assert not began.exists()
    else:
        assert answer.status_code == 200, answer.content
        assert not began.exists()
        assert author.post(f"{address}/resume").status_code == 200
        assert began.exists()


def test_fixing_needs_the_right_to_send_other_inputs(
    author: APIClient,
    start: Callable[..., str],
    dead: Callable[..., str],
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    elsewhere: Workspace,
) -> None:
    letter = dead(start(GATE), "mail.main")

    assert fix(client_of(member("SYSTEM")), letter, outputs={}).status_code == 403
    assert fix(client_of(member("USER")), letter, outputs={}).status_code == 404
    assert fix(client_of(member("ADMIN", elsewhere)), letter, outputs={}).status_code == 404


def test_outputs_that_may_be_empty_need_not_be_given() -> None:
    workflow = publish({"tasks": [task("read", "file.read", **{"with": {"path": "a.txt"}})]})
    outputs = {"content": "x", "path": "a.txt", "bytes": 1, "size": 1, "etag": "e"}

    given = check(workflow.latest_version_id, "read.main", outputs, None, "by hand")

    empty = {"modified": None, "version": None, "contentType": None}
    assert given.outputs == outputs | empty
