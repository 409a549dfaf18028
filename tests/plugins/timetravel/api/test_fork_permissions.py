"""The permissions to fork, replay and start: a program's token may change only the input."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.access import TokenLimits
from executions.access.powers import Power
from executions.models import Activity, Workflow, WorkflowExecution, Workspace
from executions.states import Permission
from runners.models import Run
from tests.contract.carrying import carry
from tests.contract.people import a_client, a_member, published

pytestmark = pytest.mark.django_db(transaction=True)

EXECUTION = "/v1/WorkflowExecution"
ATTACK = {"url": "http://attacker.example/"}
PAYMENT: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "payment",
    "variables": {"account": "ours"},
    "input": {"type": "object", "properties": {"amount": {"type": "integer"}}},
    "tasks": [
        {"id": "check", "use": "flow.noop", "with": {"value": "{{ input.amount }}"}},
        {
            "id": "approve",
            "use": "flow.approval",
            "with": {"title": "Pay {{ input.amount }}?"},
            "after": "check",
        },
        {
            "id": "pay",
            "use": "flow.noop",
            "with": {"value": "{{ input.amount }} to {{ vars.account }}"},
            "after": "approve:approved",
        },
        {"id": "receipt", "use": "flow.noop", "with": {"value": 1}, "after": "pay"},
    ],
}


@pytest.fixture
def workflow(author: APIClient) -> dict[str, Any]:
    return published(author, PAYMENT)


@pytest.fixture
def paid(author: APIClient, workflow: dict[str, Any]) -> str:
    """Run an execution whose payment of 5 was approved and made."""
    pk = started(author, workflow, 5)
    decide(author, pk)
    assert outputs(pk) == {"check.main": 5, "pay.main": "5 to ours", "receipt.main": 1}
    return pk


@pytest.fixture
def system(workspace: Workspace) -> APIClient:
    """Return a client with the rights that docs/reference/api.md recommends for programs: the role
    SYSTEM, and a token that may trigger.
    """
    return limited(a_member("SYSTEM"), workspace, ["trigger"])


def limited(user: Any, workspace: Workspace, scopes: Iterable[str]) -> APIClient:
    """Return a client with an API token of these scopes."""
    user = get_user_model().objects.get(pk=user.pk)
    user.token_limits = TokenLimits(workspace.pk, frozenset(scopes))
    return a_client(user)


def post(client: APIClient, address: str, body: Any = None) -> Any:
    return client.post(f"{EXECUTION}/{address}", body or {}, format="json")


def started(client: APIClient, workflow: dict[str, Any], amount: int) -> str:
    made = post(client, f"{workflow['id']}/execute", {"params": {"amount": amount}})
    assert made.status_code == 202, made.content
    pk = str(made.json()["id"])
    carry(pk)
    return pk


def decide(client: APIClient, pk: str) -> None:
    run = Run.objects.get(execution_id=pk, step_path="approve.main", state="WAITING")
    answer = client.post(f"/v1/Run/{run.pk}/decide", {"decision": "approved"}, format="json")
    assert answer.status_code == 200, answer.content
    carry(pk)


def outputs(pk: str) -> dict[str, Any]:
    """Return the steps' outputs, without approvals."""
    rows = Run.objects.filter(execution_id=pk, state="SUCCESS").exclude(module="flow.approval")
    return dict(rows.values_list("step_path", "outputs"))


def republish(author: APIClient, workflow: dict[str, Any]) -> None:
    address = f"/v1/Workflow/{workflow['id']}"
    changed = PAYMENT | {"variables": {"account": "theirs"}}
    assert author.patch(address, {"definition": changed}, format="json").status_code == 200
    assert author.post(f"{address}/publish").status_code == 201


REFUSED: dict[str, dict[str, Any]] = {
    "a step": {"stepPath": "pay.main"},
    "a step that is not there": {"stepPath": "nowhere.main"},
    "a checkpoint": {"checkpointId": "01900000-0000-7000-8000-000000000000"},
    "inputs of a step": {"overrides": {"steps": {"check.main": ATTACK}}},
    "inputs of a step that is not there": {"overrides": {"steps": {"nowhere": ATTACK}}},
    "a step and its inputs": {
        "stepPath": "pay.main",
        "overrides": {"steps": {"pay.main": ATTACK}},
    },
    "variables": {"overrides": {"variables": {"account": "theirs"}}},
    "variables that are not there": {"overrides": {"variables": {"x": 1}}},
    "a version that is not there": {"version": 99},
}


@pytest.mark.parametrize("asked", REFUSED)
def test_a_programs_token_forks_with_nothing_but_another_input(
    system: APIClient, paid: str, asked: str
) -> None:
    answer = post(system, f"{paid}/fork", REFUSED[asked])

    assert answer.status_code == 403, answer.content
    told = answer.content.decode()
    assert not [name for name in ("check.main", "approve", "receipt", "account") if name in told]
    assert WorkflowExecution.objects.count() == 1


def test_a_programs_token_forks_from_the_start_with_another_input(
    system: APIClient, author: APIClient, paid: str
) -> None:
    answer = post(system, f"{paid}/fork", {"overrides": {"input": {"amount": 7}}})

    assert answer.status_code == 202, answer.content
    made = answer.json()["id"]
    carry(made)
    assert outputs(made) == {"check.main": 7}, "the approval is asked as in any start"
    decide(author, made)
    assert outputs(made)["pay.main"] == "7 to ours"


def test_an_older_version_takes_no_other_input_from_a_programs_token(
    system: APIClient, author: APIClient, workflow: dict[str, Any], paid: str
) -> None:
    republish(author, workflow)
    other = {"overrides": {"input": {"amount": 7}}}

    assert post(system, f"{paid}/fork", other).status_code == 403
    assert post(system, f"{paid}/fork", other | {"version": 1}).status_code == 403
    assert post(system, f"{paid}/fork", other | {"version": 2}).status_code == 202
    assert post(system, f"{paid}/fork", other | {"version": "latest"}).status_code == 202
    assert post(system, f"{paid}/fork").status_code == 202, "the same once more"
    assert post(system, f"{paid}/replay").status_code == 202
    assert post(author, f"{paid}/fork", other | {"version": 1}).status_code == 202


def test_a_version_that_is_neither_pinned_nor_the_latest_needs_operate(
    system: APIClient, author: APIClient, workflow: dict[str, Any]
) -> None:
    republish(author, workflow)
    second = started(author, workflow, 5)

    assert post(system, f"{second}/fork", {"version": 1}).status_code == 403
    assert post(system, f"{second}/fork", {"version": 2}).status_code == 202
    assert post(author, f"{second}/fork", {"version": 1}).status_code == 202


@pytest.mark.parametrize("batch", [False, True])
def test_an_older_version_is_started_by_who_may_operate(
    system: APIClient, author: APIClient, workflow: dict[str, Any], *, batch: bool
) -> None:
    republish(author, workflow)
    address = f"{workflow['id']}/{'execute-batch' if batch else 'execute'}"
    body: dict[str, Any] = {"payloads": [{}]} if batch else {}

    answers = [
        post(client, address, body | {"version": version}).status_code
        for client, version in ((system, 2), (system, 1), (system, 9), (author, 1), (author, 9))
    ]

    assert answers == [202, 403, 403, 202, 404]


FIRST = {"overrides": {"steps": {"check.main": {"value": 9}}}}
VARIABLES = {"overrides": {"variables": {"account": "theirs"}}}


@pytest.mark.parametrize("body", [FIRST, VARIABLES])
@pytest.mark.parametrize(
    ("scopes", "status"),
    [
        (["view", "trigger"], 403),
        (["view", "trigger", "operate"], 403),
        (["view", "trigger", Permission.REDRIVE_CHANGED], 403),
        (["view", "trigger", "operate", Permission.REDRIVE_CHANGED], 202),
        (["trigger", "author"], 202),
    ],
)
def test_overrides_need_author_or_changed_redrives_with_operate(
    workspace: Workspace, paid: str, body: Any, scopes: list[Power], status: int
) -> None:
    client = limited(a_member("WORKFLOW"), workspace, scopes)

    assert post(client, f"{paid}/fork", body).status_code == status


def test_after_one_approved_payment_a_fork_behind_it_asks_again(
    author: APIClient, paid: str
) -> None:
    answer = post(
        author,
        f"{paid}/fork",
        {
            "stepPath": "pay.main",
            "overrides": {"input": {"amount": 1000}, "variables": {"account": "theirs"}},
        },
    )

    assert answer.status_code == 202, answer.content
    made = answer.json()["id"]
    carry(made)
    assert outputs(made) == {"check.main": 5}, "nothing is paid before somebody decides"
    asked = Run.objects.get(execution_id=made, step_path="approve.main")
    assert (asked.state, asked.inputs["title"]) == ("WAITING", "Pay 1000?")
    decide(author, made)
    assert outputs(made)["pay.main"] == "1000 to theirs"


def test_inputs_of_a_step_behind_an_approval_cannot_be_overridden(
    author: APIClient, paid: str
) -> None:
    body = {"stepPath": "pay.main", "overrides": {"steps": {"pay.main": {"value": "all"}}}}
    answer = post(author, f"{paid}/fork", body)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_fork")
    assert answer.json()["errors"][0]["path"] == "overrides.steps.pay.main"
    assert "begins with: approve.main" in answer.json()["errors"][0]["message"]
    assert WorkflowExecution.objects.count() == 1


def test_whom_an_approval_asks_cannot_be_overridden(author: APIClient, paid: str) -> None:
    body = {"stepPath": "approve.main", "overrides": {"steps": {"approve.main": {"approvers": []}}}}
    answer = post(author, f"{paid}/fork", body)

    assert (answer.status_code, answer.json()["code"]) == (422, "approval_needed")
    assert WorkflowExecution.objects.count() == 1


def test_steps_are_not_named_to_who_may_not_view(
    workspace: Workspace, author: APIClient, workflow: dict[str, Any], paid: str
) -> None:
    under_way = started(author, workflow, 5)
    blind = limited(a_member("WORKFLOW"), workspace, ["trigger", "operate", "author"])

    answers = [
        post(blind, f"{paid}/fork", {"stepPath": "nowhere"}),
        post(blind, f"{paid}/fork", {"overrides": {"steps": {"nowhere": {}}}}),
        post(blind, f"{paid}/fork", {"overrides": {"variables": {"x": 1}}}),
        post(blind, f"{under_way}/rollback", {"stepPath": "nowhere"}),
    ]

    assert [answer.status_code for answer in answers] == [422] * 4
    for answer in answers:
        told = answer.content.decode()
        assert not [name for name in ("check", "pay", "receipt", "account") if name in told], told
    seen = post(author, f"{paid}/fork", {"stepPath": "nowhere"})
    assert "pay.main" in seen.json()["detail"], "who may view is helped"


def test_the_trail_names_what_a_fork_overrides_and_no_values(author: APIClient, paid: str) -> None:
    body = {
        "overrides": {
            "input": {"amount": 31337},
            "variables": {"account": "hush"},
            "steps": {"check.main": {"value": "hush"}},
        },
    }
    assert post(author, f"{paid}/fork", body).status_code == 202

    row = Activity.objects.get(action="execution.fork")
    assert row.details["overrides"] == {
        "input": ["amount"],
        "variables": ["account"],
        "steps": {"check.main": ["value"]},
    }
    assert not [one for one in ("hush", "31337") if one in str(row.details)]


def test_a_test_runs_version_is_run_again_by_authors_alone(
    system: APIClient, author: APIClient, workflow: dict[str, Any]
) -> None:
    pinned = {"approve": {"output": {"decision": "approved"}, "outcome": "approved"}}
    body = {"params": {"amount": 5}, "pinned": pinned}
    made = author.post(f"/v1/Workflow/{workflow['id']}/test", body, format="json")
    assert made.status_code == 202, made.content
    trial = made.json()["id"]

    assert post(system, f"{trial}/fork").status_code == 403
    assert post(system, f"{trial}/replay").status_code == 403
    assert post(system, f"{trial}/fork", {"version": "latest"}).status_code == 202
    assert post(author, f"{trial}/replay").status_code == 202


def test_a_foreign_workflow_is_unknown_to_the_queues_names(
    system: APIClient,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    workspace: Workspace,
    elsewhere: Workspace,
    workflow: dict[str, Any],
) -> None:
    address = "/api/v1/workflow/executions/start"
    outsider = client_of(member("SYSTEM", elsewhere))
    foreign, unknown = workflow["id"], "01900000-0000-7000-8000-000000000000"

    def told(client: APIClient, pk: str, place: Any) -> tuple[int, str]:
        body = {"workflowDefinitionId": pk, "workspaceId": str(place), "input": {}}
        answer = client.post(address, body, format="json")
        return answer.status_code, answer.content.decode().replace(pk, "it")

    for place in (workspace.pk, elsewhere.pk, unknown):
        assert told(outsider, foreign, place) == told(outsider, unknown, place)
        assert told(outsider, foreign, place)[0] == 404
    assert told(system, foreign, elsewhere.pk)[0] == 404
    assert told(system, foreign, workspace.pk)[0] == 202
    assert Workflow.objects.count() == 1
