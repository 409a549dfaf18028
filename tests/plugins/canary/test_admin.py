"""Tests of canaries in the admin: publish from a workflow, compare, promote, stop, roll back."""

import html
import re
from dataclasses import asdict
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from executions.models import Activity, Membership, Workflow, Workspace
from executions.publishing import versioning
from tests.support import admin_rows as rows
from tests.support.workflows import ACTOR, publish, start, task
from valkyr_plugins.canary import lifecycle, settling
from valkyr_plugins.canary.lifecycle import CanaryWish
from valkyr_plugins.canary.models import Canary, VersionRollback
from valkyr_plugins.canary.stop_rule import StopRule

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FORM = {
    "_form_submitted": "True", "percent": "20", "failure_rate": "7.5", "at_least": "30",
    "slower": "", "new_group": "", "promote_hours": "2", "reason": "try it",
}  # fmt: skip


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    """Return a superuser's client."""
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


@pytest.fixture
def changed() -> Workflow:
    """Create a published workflow whose draft has changed since then."""
    made = publish({"tasks": [task("a")]})
    definition = made.definition | {"tasks": [task("a"), task("b")]}
    return versioning.update_workflow(
        made.pk, {"definition": definition}, actor=ACTOR, expected_revision=None
    )


@pytest.fixture
def canary(changed: Workflow) -> Canary:
    return lifecycle.begin(changed.pk, CanaryWish(percent=5, rule=StopRule()), actor=ACTOR)


def page(name: str, row: Any) -> str:
    return reverse(f"admin:{name}", args=[row.pk])


def inputs(shown: str) -> dict[str, str]:
    """Return the values of a dialog's inputs by name."""
    found = (dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall("<input[^>]*>", shown))
    return {one["name"]: one.get("value", "") for one in found if "name" in one}


def test_a_workflow_is_published_for_a_share(op: Client, changed: Workflow) -> None:
    address = page("executions_workflow_operate_canary", changed)
    assert "Share of new executions" in op.get(address).content.decode()

    op.post(address, FORM)

    made = Canary.objects.get(workflow=changed)
    assert made.percent == 20
    assert made.stop == {
        "at_least": 30, "failure_rate": 7.5, "slower": None, "new_group": None,
    }  # fmt: skip
    assert made.promote_at is not None
    assert Activity.objects.get(action="canary.begin").via == "admin"


def test_its_page_compares_both_versions(op: Client, canary: Canary) -> None:
    shown = op.get(page("valkyr_canary_canary_change", canary)).content.decode()

    assert "Both versions since the canary began" in shown
    assert "failure rate above 10 %, 3 dead letters in a new failure group" in shown
    for button in ("Promote…", "Stop canary…", "Change canary…", "Roll back…"):
        assert button in shown
    workflow = op.get(page("executions_workflow_change", canary.workflow)).content.decode()
    assert "Publish canary…" in workflow
    assert f"{canary.workflow_id}/open_canary" in workflow


@pytest.mark.parametrize("rule", [StopRule(at_least=30, failure_rate=7.5, slower=1.5), None])
def test_only_the_share_changes_if_the_user_changes_only_the_share(
    op: Client, changed: Workflow, rule: StopRule | None
) -> None:
    wish = CanaryWish(percent=20, rule=rule, promote_after=7_200)
    begun = lifecycle.begin(changed.pk, wish, actor=ACTOR)
    address = page("valkyr_canary_canary_operate_set_share", begun)
    shown = inputs(op.get(address).content.decode())
    assert shown["percent"] == "20.0"
    assert shown["promote_hours"] == "2.0"

    op.post(address, shown | {"percent": "40"})

    now = Canary.objects.get(pk=begun.pk)
    assert (now.percent, now.promote_at) == (40, begun.promote_at)
    assert now.stop == asdict(rule or StopRule(at_least=1, failure_rate=None, new_group=None))

    op.post(address, shown | {"promote_hours": ""})

    assert Canary.objects.get(pk=begun.pk).promote_at is None


def test_where_only_git_publishes_its_page_offers_to_stop_it(op: Client, canary: Canary) -> None:
    Workspace.objects.update(publish_from_git=True)

    shown = op.get(page("valkyr_canary_canary_change", canary)).content.decode()
    workflow = op.get(page("executions_workflow_change", canary.workflow)).content.decode()

    assert page("valkyr_canary_canary_operate_stop", canary) in shown
    assert page("valkyr_canary_canary_operate_promote", canary) not in shown
    assert page("executions_workflow_operate_roll_back", canary.workflow) in workflow
    assert page("executions_workflow_operate_canary", canary.workflow) not in workflow


def test_it_is_stopped_and_promoted_by_a_button(op: Client, canary: Canary) -> None:
    given = {"_form_submitted": "True", "reason": "bad"}

    op.post(page("valkyr_canary_canary_operate_stop", canary), given)

    canary.refresh_from_db()
    assert (canary.state, canary.reason, canary.ended_by_name) == ("STOPPED", "bad", "op")
    op.post(page("valkyr_canary_canary_operate_promote", canary), given)
    canary.refresh_from_db()
    assert canary.state == "STOPPED"


def test_a_workflow_is_rolled_back_by_a_button(op: Client, changed: Workflow) -> None:
    versioning.publish(changed.pk, actor=ACTOR)

    op.post(
        page("executions_workflow_operate_roll_back", changed),
        {"_form_submitted": "True", "executions": "LEAVE", "reason": "bad"},
    )

    made = VersionRollback.objects.get(workflow=changed)
    assert (made.bad.number, made.good.number) == (2, 1)
    shown = op.get(page("valkyr_canary_versionrollback_change", made)).content.decode()
    assert "v2" in shown
    assert "Executions that could not be cancelled or forked" in shown


def test_a_rollback_leads_to_the_executions_that_started_on_its_version(
    op: Client, changed: Workflow
) -> None:
    versioning.publish(changed.pk, actor=ACTOR)
    changed.refresh_from_db()
    old, bad = start(changed, version=1), start(changed)
    made = settling.roll_back(changed.pk, actor=ACTOR)
    shown = op.get(page("valkyr_canary_versionrollback_change", made)).content.decode()
    link = re.search(r'href="([^"]*workflowexecution/\?[^"]*)"[^>]*>[^<]*started on the', shown)
    assert link is not None

    listed = op.get(html.unescape(link[1])).content.decode()

    assert str(bad) in listed
    assert str(old) not in listed


def test_other_workspaces_do_not_see_it(
    canary: Canary, client: Client, django_user_model: Any
) -> None:
    user = django_user_model.objects.create(username="foreign", is_staff=True)
    Membership.objects.create(user=user, workspace=rows.workspace("other"), role="ADMIN")
    client.force_login(user)

    assert client.get(page("valkyr_canary_canary_change", canary)).status_code in {302, 403, 404}
    client.post(
        page("valkyr_canary_canary_operate_stop", canary),
        {"_form_submitted": "True", "reason": "x"},
    )
    canary.refresh_from_db()
    assert canary.state == "RUNNING"


def test_the_home_page_says_that_a_rule_stopped_a_canary(op: Client, canary: Canary) -> None:
    start(canary.workflow)  # without executions the page shows the first steps instead
    running = op.get("/admin/").content.decode()
    assert "Running canaries" in running
    assert "was stopped by its rule" not in running

    lifecycle.stop(canary.pk, actor=lifecycle.ENGINE, reason="3 of 3 failed")
    cache.clear()
    stopped = op.get("/admin/").content.decode()
    assert "1 canary version was stopped by its rule" in stopped
    assert "3 of 3 failed" in stopped

    versioning.publish(canary.workflow_id, actor=ACTOR)
    cache.clear()
    assert "was stopped by its rule" not in op.get("/admin/").content.decode()


def test_a_canary_that_a_person_stopped_needs_no_attention(op: Client, canary: Canary) -> None:
    start(canary.workflow)
    lifecycle.stop(canary.pk, actor=ACTOR, reason="enough seen")
    cache.clear()

    assert "was stopped by its rule" not in op.get("/admin/").content.decode()
