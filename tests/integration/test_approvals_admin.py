"""The admin's approvals: their visibility, the permission to decide, and the recorded decision."""

from typing import Any

import pytest
from django.test import Client

from executions.models import Activity, Membership, Workflow
from runners.models import Run
from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db
LIST = "/admin/runners/approval/"


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> None:
    """Provide the static files that pages need."""


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


def asked(workflow: Workflow, *approvers: str, title: str = "Refund?") -> Run:
    facts = {"title": title, "description": "<b>Order</b> 17", "approvers": list(approvers)}
    return rows.run(
        rows.execution(workflow), "ask.main", "WAITING", waits_for="approval", progress=facts
    )


def client_of(workflow: Workflow, role: str, name: str, django_user_model: Any) -> Client:
    user = django_user_model.objects.create(username=name, is_staff=True)
    Membership.objects.create(user=user, workspace_id=workflow.workspace_id, role=role)
    client = Client()
    client.force_login(user)
    return client


def page(client: Client, run: Run) -> str:
    answer = client.get(f"{LIST}{run.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def decide(client: Client, run: Run, how: str = "approve", comment: str = "fine") -> int:
    body = {"comment": comment, "_form_submitted": "True"}
    return client.post(f"{LIST}{run.pk}/{how}/", body).status_code


def titles(client: Client, **query: str) -> list[str]:
    return [row.title for row in client.get(LIST, query).context["cl"].result_list]


def test_the_list_opens_on_what_waits(workflow: Workflow, django_user_model: Any) -> None:
    maria = client_of(workflow, "ADMIN", "maria", django_user_model)
    first, _ = asked(workflow, title="First?"), asked(workflow, title="Second?")
    rows.run(rows.execution(workflow), "nap.main", "WAITING", waits_for="timer")
    assert titles(maria) == ["Second?", "First?"]
    decide(maria, first)
    assert titles(maria) == ["Second?"]
    assert titles(maria, state="decided") == ["First?"]
    assert titles(maria, state="all") == ["Second?", "First?"]


@pytest.mark.parametrize(("how", "decision"), [("approve", "approved"), ("reject", "rejected")])
def test_a_person_decides_with_a_comment(
    how: str, decision: str, workflow: Workflow, django_user_model: Any
) -> None:
    maria = client_of(workflow, "WORKFLOW", "maria", django_user_model)
    run = asked(workflow)
    assert f"{LIST}{run.pk}/{how}/" in page(maria, run)
    assert decide(maria, run, how, "as agreed") == 302
    run.refresh_from_db()
    assert (run.state, run.wake["decision"], run.wake["actor"]) == ("PENDING", decision, "maria")
    kept = Activity.objects.get(action="run.decide")
    assert (kept.actor_name, kept.reason) == ("maria", "as agreed")
    shown = page(maria, run)
    assert "as agreed" in shown
    assert decision in shown
    assert f"{LIST}{run.pk}/{how}/" not in shown


def test_who_may_not_decide_sees_no_buttons_and_is_refused(
    workflow: Workflow, django_user_model: Any
) -> None:
    run = asked(workflow, "paul")
    maria = client_of(workflow, "ADMIN", "maria", django_user_model)
    paul = client_of(workflow, "WORKFLOW", "paul", django_user_model)
    assert f"{run.pk}/approve/" not in page(maria, run)
    assert f"{run.pk}/approve/" in page(paul, run)
    decide(maria, run)
    run.refresh_from_db()
    assert run.state == "WAITING"
    decide(paul, run)
    run.refresh_from_db()
    assert run.wake["actor"] == "paul"


def test_approvals_of_other_workspaces_do_not_exist(
    workflow: Workflow, django_user_model: Any
) -> None:
    elsewhere = rows.workflow("other", owner=rows.workspace("elsewhere"))
    run = asked(elsewhere)
    maria = client_of(workflow, "ADMIN", "maria", django_user_model)
    assert titles(maria) == []
    assert decide(maria, run) == 403
    run.refresh_from_db()
    assert run.state == "WAITING"


def test_many_are_decided_at_once(workflow: Workflow, django_user_model: Any) -> None:
    maria = client_of(workflow, "ADMIN", "maria", django_user_model)
    mine, theirs = [asked(workflow) for _ in range(3)], asked(workflow, "paul")
    ids = [str(run.pk) for run in (*mine, theirs)]
    body = {"action": "bulk_approve", "_selected_action": ids, "confirmed": "1", "comment": "ok"}
    body["_form_submitted"] = "True"
    maria.post(LIST, body)
    states = dict(Run.objects.filter(pk__in=ids).values_list("pk", "state"))
    assert states == {run.pk: "PENDING" for run in mine} | {theirs.pk: "WAITING"}


def test_the_page_of_a_waiting_run_says_what_it_waits_for(
    workflow: Workflow, django_user_model: Any
) -> None:
    maria = client_of(workflow, "ADMIN", "maria", django_user_model)
    run = asked(workflow)
    shown = maria.get(f"/admin/runners/run/{run.pk}/change/").content.decode()
    assert f"{LIST}{run.pk}/change/" in shown
    assert "Refund?" in shown
    assert "<b>Order</b>" not in page(maria, run)


def test_a_decision_is_named_in_the_language_of_the_user(
    workflow: Workflow, django_user_model: Any
) -> None:
    maria = client_of(workflow, "ADMIN", "maria", django_user_model)
    run = asked(workflow)
    decide(maria, run)

    german = {"accept-language": "de"}
    shown = maria.get(f"{LIST}{run.pk}/change/", headers=german).content.decode()
    again = maria.get(f"{LIST}{run.pk}/reject/", headers=german).content.decode()

    assert "genehmigt</span>" in shown
    assert "approved</span>" not in shown
    assert "Zustand dieser Genehmigung: bereits genehmigt." in again
