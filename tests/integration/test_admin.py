"""The admin without a browser: every page responds to permitted users, with few queries.

A GET request changes nothing.
"""

import base64
import hashlib
import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dlq.models import DeadLetterEntry
from executions.models import Activity, Membership, Workflow, WorkflowExecution
from runners.models import Run
from tests.support import admin_rows as rows
from tests.support.sharing import assign_perm
from valkyr_project.http.middleware import STYLE_HASHES

pytestmark = pytest.mark.django_db

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
LETTERS = "/admin/dlq/deadletterentry/"


def _name(model: Any) -> str:
    return f"{model._meta.app_label}_{model._meta.model_name}"


@pytest.fixture(autouse=True)
def _fresh_cache(static_files: None) -> None:
    cache.clear()


@pytest.fixture
def boss(django_user_model: Any) -> Any:
    """Create a superuser without a password: no test signs in by password, so none is hashed."""
    return django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)


@pytest.fixture
def op(client: Client, boss: Any) -> Client:
    """Return a client of the superuser."""
    client.force_login(boss)
    return client


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


def _member(django_user_model: Any, workflow: Workflow, role: str) -> Client:
    user = django_user_model.objects.create(username="ada", is_staff=True)
    Membership.objects.create(user=user, workspace_id=workflow.workspace_id, role=role)
    client = Client()
    client.force_login(user)
    return client


def _queries(client: Client, address: str) -> int:
    """Return the number of a page's queries without caches."""
    cache.clear()
    with CaptureQueriesContext(connection) as seen:
        answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return len(seen)


def _warm(client: Client) -> None:
    """Fill the caches of this process, such as content types."""
    ContentType.objects.get_for_models(*MODELS)
    client.get("/admin/")


def _list_queries(client: Client) -> dict[str, int]:
    """Return the number of queries of each model's list."""
    names = [_name(model) for model in MODELS]
    return {name: _queries(client, reverse(f"admin:{name}_changelist")) for name in names}


def test_every_list_costs_as_many_queries_with_five_rows_as_with_one(
    op: Client, workflow: Workflow
) -> None:
    rows.one_of_each(workflow)
    _warm(op)
    few = _list_queries(op)
    rows.one_of_each(workflow, 4)

    assert _list_queries(op) == few


def test_the_page_of_every_row_answers(op: Client, workflow: Workflow) -> None:
    rows.one_of_each(workflow)
    first = {_name(model): model._default_manager.first() for model in MODELS}

    answers = {
        name: op.get(reverse(f"admin:{name}_change", args=[row.pk])).status_code
        for name, row in first.items()
    }

    assert answers == dict.fromkeys(first, 200)


def test_an_execution_page_costs_the_same_with_many_runs(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    address = reverse("admin:executions_workflowexecution_change", args=[entry.execution_id])
    op.get(address)
    few = _queries(op, address)
    for number in range(30):
        rows.run(entry.execution, f"more{number}.main", "SUCCESS")

    assert _queries(op, address) == few


def test_the_dashboard_is_kept_for_a_while(op: Client, workflow: Workflow) -> None:
    rows.one_of_each(workflow)
    first = op.get("/admin/")
    rows.failed_order(workflow)

    assert [card.shown for card in first.context["cards"]] == ["1", "1", "1", "1"]
    kept = [card.shown for card in op.get("/admin/").context["cards"]]
    assert kept == ["1", "1", "1", "1"]
    cache.clear()
    renewed = [card.shown for card in op.get("/admin/").context["cards"]]
    assert renewed == ["1", "1", "2", "2"]


def test_each_card_leads_to_a_list_of_as_many_rows(op: Client, workflow: Workflow) -> None:
    rows.one_of_each(workflow, 2)

    for card in op.get("/admin/").context["cards"]:
        assert op.get(card.address).context["cl"].result_count == card.number, card.title


def test_engine_rows_can_neither_be_added_changed_nor_deleted(
    op: Client, workflow: Workflow
) -> None:
    rows.one_of_each(workflow)
    for model in (WorkflowExecution, Run, Activity):
        row = model.objects.first()
        page = reverse(f"admin:{_name(model)}_change", args=[row.pk])
        assert op.post(page, {"state": "SUCCESS"}).status_code == 403
        assert op.get(reverse(f"admin:{_name(model)}_add")).status_code == 403
        gone = reverse(f"admin:{_name(model)}_delete", args=[row.pk])
        assert op.post(gone, {"post": "yes"}).status_code == 403
        assert model.objects.filter(pk=row.pk).exists()


def test_an_action_asked_for_by_get_changes_nothing(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    live = rows.execution(workflow)

    for action in ("requeue", "requeue-with", "discard"):
        assert op.get(f"{LETTERS}{entry.pk}/{action}/").status_code == 200
    asked = op.get(f"/admin/executions/workflowexecution/{live.pk}/cancel/")
    assert "then runs the undo steps" in asked.content.decode()

    entry.refresh_from_db()
    live.refresh_from_db()
    assert (entry.resolution, live.state) == ("PENDING", "RUNNING")


def test_an_action_without_a_token_is_refused(workflow: Workflow, boss: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(boss)
    entry = rows.failed_order(workflow)

    answer = strict.post(f"{LETTERS}{entry.pk}/discard/", {"_form_submitted": "True"})

    assert answer.status_code == 403
    assert DeadLetterEntry.objects.get().resolution == "PENDING"


def test_discarding_twice_tells_the_second_person(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    address = f"{LETTERS}{entry.pk}/discard/"
    body = {"_form_submitted": "True", "notes": "enough"}

    assert op.post(address, body).status_code == 302
    answer = op.post(address, body, follow=True)

    told = [str(message) for message in answer.context["messages"]]
    assert any("0 discarded, 1 skipped" in message for message in told), told


def test_a_row_with_several_problems_is_one_skipped_row(op: Client, workflow: Workflow) -> None:
    tasks = [{"id": name, "use": "no.such"} for name in ("a", "b", "c", "d")]
    draft = {"schema": "valkyr/1", "name": "w", "tasks": tasks}
    Workflow.objects.filter(pk=workflow.pk).update(definition=draft)
    address = f"/admin/executions/workflow/{workflow.pk}/publish/"

    answer = op.post(address, {"_form_submitted": "True"}, follow=True)

    [told] = [str(message) for message in answer.context["messages"]]
    assert told.startswith("0 published, 1 skipped: "), told
    assert told.count("no.such") == 3, told
    assert told.endswith(" And 1 more reason."), told


def test_a_dialog_sends_htmx_back_to_the_page_it_was_opened_on(
    op: Client, workflow: Workflow
) -> None:
    entry = rows.failed_order(workflow)
    address = f"{LETTERS}{entry.pk}/discard/"
    body = {"_form_submitted": "True", "notes": "enough"}
    htmx = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{LETTERS}?q=charge"}

    assert op.post(address, body, headers=htmx)["HX-Redirect"] == f"{LETTERS}?q=charge"
    elsewhere = htmx | {"HX-Current-URL": "https://evil.test/"}
    assert op.post(address, body, headers=elsewhere)["HX-Redirect"].startswith(LETTERS)


def test_select_all_takes_every_row_of_the_list_but_none_that_came_later(
    op: Client, workflow: Workflow
) -> None:
    before = [rows.failed_order(workflow) for _ in range(30)]
    chosen = {
        "action": "bulk_discard",
        "select_across": "1",
        "_selected_action": [str(before[-1].pk)],
    }
    question = op.post(LETTERS, chosen)
    assert question.context["count"] == 30
    later = rows.failed_order(workflow)

    op.post(
        LETTERS,
        chosen
        | {
            "confirmed": "yes",
            "newest": str(question.context["newest"]),
            "_form_submitted": "True",
            "notes": "enough",
        },
    )

    assert DeadLetterEntry.objects.filter(resolution="DISCARDED").count() == 30
    later.refresh_from_db()
    assert later.resolution == "PENDING"


def test_a_member_sees_and_operates_the_own_workspace_alone(
    workflow: Workflow, django_user_model: Any
) -> None:
    foreign = rows.workflow("other", owner=rows.workspace("other"))
    theirs, ours = rows.failed_order(foreign), rows.failed_order(workflow)
    ada = _member(django_user_model, workflow, "WORKFLOW")

    assert ada.get(LETTERS).context["cl"].result_count == 1
    assert ada.get("/admin/executions/workflowexecution/").context["cl"].result_count == 1
    assert ada.get("/admin/runners/run/").context["cl"].result_count == 3
    assert ada.get(f"{LETTERS}{theirs.pk}/change/").status_code == 302
    body = {"_form_submitted": "True", "notes": "enough"}
    assert ada.post(f"{LETTERS}{theirs.pk}/discard/", body).status_code == 403
    assert ada.post(f"{LETTERS}{ours.pk}/discard/", body).status_code == 302
    theirs.refresh_from_db()
    assert theirs.resolution == "PENDING"


def test_a_role_without_operating_sees_nothing_to_operate(
    workflow: Workflow, django_user_model: Any
) -> None:
    entry = rows.failed_order(workflow)
    ada = _member(django_user_model, workflow, "USER")

    assert ada.get(LETTERS).status_code == 403
    assert ada.post(f"{LETTERS}{entry.pk}/discard/", {"_form_submitted": "True"}).status_code == 403


def test_who_is_granted_to_read_a_workflow_only_looks(
    workflow: Workflow, django_user_model: Any
) -> None:
    entry = rows.failed_order(workflow)
    ada = _member(django_user_model, workflow, "USER")
    assign_perm("read_workflow", django_user_model.objects.get(username="ada"), workflow)

    assert ada.get(LETTERS).context["cl"].result_count == 1
    assert ada.get(f"{LETTERS}{entry.pk}/change/").status_code == 200
    assert ada.post(f"{LETTERS}{entry.pk}/discard/", {"_form_submitted": "True"}).status_code == 403


def test_secrets_are_masked_and_markup_is_text(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)

    page = op.get(f"/admin/executions/workflowexecution/{entry.execution_id}/change/")
    text = page.content.decode()

    assert "hunter2" not in text
    assert "<b>bold</b>" not in text
    assert "größe" in text


def test_a_draft_that_somebody_else_saved_meanwhile_is_not_overwritten(
    op: Client, workflow: Workflow
) -> None:
    address = reverse("admin:executions_workflow_change", args=[workflow.pk])
    body = {
        "name": "Mine",
        "slug": workflow.slug,
        "enabled": "on",
        "draft": "name: mine",
        "revision_seen": workflow.revision,
    }
    Workflow.objects.filter(pk=workflow.pk).update(revision=workflow.revision + 1)

    answer = op.post(address, body)

    assert answer.status_code == 200
    assert "Another user saved revision" in answer.content.decode()
    workflow.refresh_from_db()
    assert workflow.name == "Order import"


def test_a_search_finds_by_id_and_survives_any_text(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    rows.failed_order(workflow)

    found = op.get(LETTERS, {"q": str(entry.execution_id)}).context["cl"]
    assert [row.pk for row in found.result_list] == [entry.pk]
    for strange in ("%", "'", "\\", "0" * 400, "charge"):
        assert op.get(LETTERS, {"q": strange}).status_code == 200


def test_the_styles_written_into_the_page_are_those_the_policy_names(op: Client) -> None:
    answer = op.get("/admin/")
    inline = re.findall(r"<style[^>]*>(.*?)</style>", answer.content.decode(), re.DOTALL)

    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in inline
    ]

    assert hashes
    assert set(hashes) <= set(STYLE_HASHES)
    assert "unsafe-eval" not in answer["Content-Security-Policy"]


def test_only_administrators_of_a_workspace_see_its_members(
    workflow: Workflow, django_user_model: Any
) -> None:
    author = _member(django_user_model, workflow, "WORKFLOW")
    address = "/admin/executions/membership/"

    assert author.get(address).status_code == 403
    Membership.objects.update(role="ADMIN")
    assert author.get(address).context["cl"].result_count == 1


@pytest.mark.parametrize("slug", ["order-import", ""])
def test_a_taken_slug_is_an_error_of_the_form(op: Client, workflow: Workflow, slug: str) -> None:
    body = {
        "workspace": workflow.workspace_id,
        "name": "Order import",
        "slug": slug,
        "draft": "name: again",
    }

    answer = op.post("/admin/executions/workflow/add/", body)

    assert answer.status_code == 200
    assert "has the slug" in answer.content.decode()
    assert Workflow.objects.count() == 1


def test_a_text_that_is_no_definition_is_an_error_of_the_form(
    op: Client, workflow: Workflow
) -> None:
    address = reverse("admin:executions_workflow_change", args=[workflow.pk])
    for text in ("a: [", "- 1", "{", "\x00", "a: 1\na: 2", "x: " + "[" * 200):
        answer = op.post(address, {"name": "Mine", "slug": "mine", "draft": text})
        assert answer.status_code == 200, text
    workflow.refresh_from_db()
    assert workflow.name == "Order import"


def test_odd_filters_and_selections_are_never_a_crash(op: Client, workflow: Workflow) -> None:
    rows.failed_order(workflow)
    for query in (
        "failure_type__exact=%00",
        "q=%00",
        "resolution=%00",
        "p=-1",
        "since=x&workflow=y",
    ):
        assert op.get(f"{LETTERS}?{query}").status_code in {200, 302, 400}, query
    for chosen in ("zz", "\x00"):
        body = {"action": "bulk_discard", "_selected_action": [chosen]}
        assert op.post(LETTERS, body).status_code == 400
    assert op.get(f"{LETTERS}not-an-id/discard/").status_code == 403
