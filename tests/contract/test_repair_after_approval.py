"""Dead letters after an approval: only an author may change what was approved."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from executions.access import Action, TokenLimits
from executions.models import Activity, WorkflowExecution, Workspace
from executions.states import Permission
from runners.models import Run
from valkyr_plugins.redrive.models import Redrive

from .carrying import carry
from .people import a_client, a_member, published

pytestmark = pytest.mark.django_db(transaction=True)

EXECUTION, LETTER, REDRIVE = "/v1/WorkflowExecution", "/v1/DeadLetterQueue", "/v1/Redrive"
REPAIR = [Permission.REDRIVE, Permission.REDRIVE_CHANGED, Permission.VIEW_PAYLOADS, Permission.BULK]
TASKS: list[dict[str, Any]] = [
    {"id": "approve", "use": "flow.approval", "with": {"title": "Pay?"}},
    {"id": "pay", "use": "flow.fail", "with": {"message": "no"}, "after": "approve:approved"},
]
PAYMENT: dict[str, Any] = {"schema": "valkyr/1", "name": "payment", "tasks": TASKS}
PLAIN: dict[str, Any] = PAYMENT | {
    "name": "plain",
    "tasks": [{"id": "pay", "use": "flow.fail", "with": {"message": "no"}}],
}
CHANGED = {"message": "other"}


def a_mender(workspace: Workspace) -> APIClient:
    """Return a client of a user who may view, and repair with other inputs, but neither write nor
    operate.
    """
    user = a_member("WORKFLOW", workspace, name="mender")
    user.token_limits = TokenLimits(workspace.pk, frozenset({Action.VIEW, *REPAIR}))
    return a_client(user)


def dead(author: APIClient, definition: dict[str, Any]) -> DeadLetterEntry:
    """Create the dead letter of a failed payment, in an execution with a granted approval."""
    workflow = published(author, definition)
    made = author.post(f"{EXECUTION}/{workflow['id']}/execute", {}, format="json").json()["id"]
    carry(made)
    for run in Run.objects.filter(execution_id=made, state="WAITING"):
        answer = author.post(f"/v1/Run/{run.pk}/decide", {"decision": "approved"}, format="json")
        assert answer.status_code == 200, answer.content
    carry(made)
    return DeadLetterEntry.objects.get(execution_id=made)


def post(client: APIClient, address: str, body: Any) -> Any:
    return client.post(address, body, format="json")


def test_after_an_approval_only_authors_requeue_with_other_inputs(
    author: APIClient, workspace: Workspace
) -> None:
    letter = dead(author, PAYMENT)
    mender = a_mender(workspace)

    refused = post(mender, f"{LETTER}/{letter.pk}/requeue", CHANGED)
    plain = post(mender, f"{LETTER}/{letter.pk}/requeue", {})

    assert (refused.status_code, plain.status_code) == (403, 200)
    assert "approval" in refused.json()["detail"]
    carry(str(letter.execution_id))
    again = DeadLetterEntry.objects.get(execution_id=letter.execution_id, resolution="PENDING")
    assert post(author, f"{LETTER}/{again.pk}/requeue", CHANGED).status_code == 200


def test_after_an_approval_only_authors_give_a_result_by_hand(
    author: APIClient, workspace: Workspace
) -> None:
    letter = dead(author, PAYMENT)
    body = {"outputs": {}, "notes": "paid by hand"}

    refused = post(a_mender(workspace), f"{LETTER}/{letter.pk}/fix", body)

    assert refused.status_code == 403, refused.content
    assert DeadLetterEntry.objects.get().resolution == "PENDING"
    assert post(author, f"{LETTER}/{letter.pk}/fix", body).status_code == 200


def test_without_an_approval_repairs_are_as_ever(author: APIClient, workspace: Workspace) -> None:
    letter = dead(author, PLAIN)
    answer = post(a_mender(workspace), f"{LETTER}/{letter.pk}/requeue", CHANGED)
    assert answer.status_code == 200, answer.content


def test_an_approval_of_the_caller_covers_its_child(
    author: APIClient, workspace: Workspace
) -> None:
    child = published(author, PLAIN)
    call = {"id": "pay", "use": "flow.subworkflow", "after": "approve:approved"}
    call |= {"with": {"workflow": "plain"}}
    workflow = published(author, PAYMENT | {"name": "caller", "tasks": [TASKS[0], call]})
    made = post(author, f"{EXECUTION}/{workflow['id']}/execute", {}).json()["id"]
    carry(made)
    run = Run.objects.get(execution_id=made, state="WAITING")
    post(author, f"/v1/Run/{run.pk}/decide", {"decision": "approved"})
    carry(made)
    started = WorkflowExecution.objects.get(workflow_id=child["id"])
    carry(str(started.pk))
    letter = DeadLetterEntry.objects.get(execution_id=started.pk)

    answer = post(a_mender(workspace), f"{LETTER}/{letter.pk}/requeue", CHANGED)

    assert answer.status_code == 403, answer.content


def test_an_approval_that_became_a_dead_letter_is_asked_and_not_given(author: APIClient) -> None:
    workflow = published(author, PAYMENT)
    made = post(author, f"{EXECUTION}/{workflow['id']}/execute", {}).json()["id"]
    carry(made)
    run = Run.objects.get(execution_id=made, state="WAITING")
    letter = post(author, f"/v1/Run/{run.pk}/quarantine", {"reason": "x"}).json()["id"]
    given = {"outputs": {"decision": "approved"}, "outcome": "approved", "notes": "trust me"}

    fixed = post(author, f"{LETTER}/{letter}/fix", given)
    other = post(author, f"{LETTER}/{letter}/requeue", {"approvers": ["me"]})
    redriven = post(author, REDRIVE, {"ids": [letter], "overrides": {"approvers": ["me"]}})
    preview = post(author, f"{REDRIVE}/{redriven.json()['id']}/preview", {}).json()
    asked = post(author, f"{LETTER}/{letter}/requeue", {})

    assert (fixed.status_code, fixed.json()["code"]) == (422, "approval_needed")
    assert (other.status_code, other.json()["code"]) == (422, "approval_needed")
    assert preview["rejected"][0]["problems"] == ["the inputs of an approval cannot be changed"]
    assert asked.status_code == 200
    carry(made)
    assert Run.objects.get(execution_id=made, state="WAITING").step_path == "approve.main"


def test_a_redrive_with_other_inputs_after_an_approval_needs_author(
    author: APIClient, workspace: Workspace
) -> None:
    letter = dead(author, PAYMENT)
    mender = a_mender(workspace)
    body = {"ids": [str(letter.pk)], "overrides": CHANGED}

    assert post(mender, REDRIVE, body).status_code == 403
    assert post(mender, f"{LETTER}/requeue", body).status_code == 403
    assert not Redrive.objects.exists()
    made = post(author, REDRIVE, body).json()["id"]
    started = post(mender, f"{REDRIVE}/{made}/start", {})
    assert started.status_code == 403, "nor does somebody else's draft help"
    assert post(author, f"{REDRIVE}/{made}/start", {}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"scope": "FROM"}, 403),
        ({"scope": "FROM", "overrides": CHANGED}, 403),
        ({"scope": "EXECUTION", "version": 1}, 403),
        ({"scope": "EXECUTION", "overrides": {"x": 1}}, 403),
        ({"scope": "EXECUTION", "overrides": {"x": 1}, "version": "latest"}, 201),
        ({"scope": "EXECUTION"}, 201),
        ({"overrides": CHANGED}, 201),
    ],
)
def test_a_redrive_that_forks_needs_what_a_fork_needs(
    author: APIClient, workspace: Workspace, body: dict[str, Any], status: int
) -> None:
    letter = dead(author, PLAIN)
    mender = a_mender(workspace)

    answer = post(mender, REDRIVE, {"ids": [str(letter.pk)], **body})
    assert answer.status_code == status, answer.content
    assert post(author, REDRIVE, {"ids": [str(letter.pk)], **body}).status_code == 201


def test_the_trail_names_what_a_redrive_overrides(author: APIClient) -> None:
    letter = dead(author, PLAIN)
    body = {"ids": [str(letter.pk)], "scope": "FROM", "overrides": {"message": "hush"}}
    assert post(author, REDRIVE, body).status_code == 201

    row = Activity.objects.get(action="redrive.make")
    assert row.details["overrides"] == ["message"]
    assert "hush" not in str(row.details)
