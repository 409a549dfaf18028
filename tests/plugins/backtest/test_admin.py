"""Tests of backtests in the admin: started from a workflow, shown, and cancelled."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from executions.database.clock import database_now
from executions.models import Activity, Workflow
from tests.support.workflows import publish, task
from valkyr_plugins.backtest.models import Backtest, BacktestResult

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    """Return a superuser's client."""
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


@pytest.fixture
def workflow() -> Workflow:
    return publish({"tasks": [task("a")]})


def page(name: str, row: Any) -> str:
    return reverse(f"admin:{name}", args=[row.pk])


def test_a_backtest_is_started_from_its_workflow_and_cancelled(
    op: Client, workflow: Workflow
) -> None:
    address = page("executions_workflow_operate_backtest", workflow)
    assert "No step with an effect runs" in op.get(address).content.decode()

    form = {"_form_submitted": "True", "last": "50", "state": "FAILED", "version": "", "reason": ""}
    op.post(address, form)

    made = Backtest.objects.get(workflow=workflow)
    assert (made.most, made.selection, made.version) == (50, {"states": ["FAILED"]}, None)
    assert Activity.objects.get(action="backtest.start").via == "admin"
    op.post(page("valkyr_backtest_backtest_operate_cancel", made), {"_form_submitted": "True"})
    made.refresh_from_db()
    assert made.state == "CANCELLED"


def test_its_page_shows_groups_steps_and_executions(op: Client, workflow: Workflow) -> None:
    group = {
        "key": "k", "stepPath": "charge.main", "verdict": "WOULD_CALL", "reason": "INPUTS",
        "module": "m", "recorded": "", "detail": "", "fields": ["amount"], "count": 312,
        "executions": [str(workflow.pk)], "values": [["0"]], "before": [["20"], ["30"]],
        "sample": [{"field": "amount", "recorded": 20, "now": 0}],
    }  # fmt: skip
    made = Backtest.objects.create(
        workflow=workflow, workspace=workflow.workspace, revision=1, definition={}, most=100,
        total=400, done=312, counts={"WOULD_CALL": 312}, groups={"groups": [group], "leftOut": 0},
        by_step={"charge.main": {"WOULD_CALL": 312}}, state="RUNNING",
    )  # fmt: skip
    BacktestResult.objects.create(
        backtest=made, execution_id=workflow.pk, verdict="WOULD_CALL", same=1, steps=[]
    )

    shown = op.get(page("valkyr_backtest_backtest_change", made)).content.decode()

    assert "312 executions: step charge would now be called with amount 0." in shown
    assert "312 of 400" in shown
    assert "Cancel backtest…" in shown
    listed = op.get(reverse("admin:valkyr_backtest_backtest_changelist")).content.decode()
    assert "312 of 400" in listed


@pytest.mark.parametrize(
    ("state", "told", "renewed"),
    [("RUNNING", "No differences so far.", True), ("DONE", "No differences.", False)],
)
def test_the_page_renews_itself_until_the_backtest_ends(
    op: Client, workflow: Workflow, state: str, told: str, renewed: bool
) -> None:
    ended = database_now() if state == "DONE" else None
    made = Backtest.objects.create(
        workflow=workflow, workspace=workflow.workspace, revision=1, definition={}, most=100,
        state=state, finished_at=ended,
    )  # fmt: skip

    shown = op.get(page("valkyr_backtest_backtest_change", made)).content.decode()

    assert told in shown
    assert 'id="figures"' in shown
    assert ('data-refresh="2"' in shown) == renewed
