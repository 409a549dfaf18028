"""The page of a dead letter: its contents and its queries for each kind of user."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from dlq.comparing.reference_runs import LOOKED_THROUGH
from dlq.groups import merging
from dlq.models import DeadLetterEntry, Resolution
from dlq.resolve import transitions
from dlq.retention.pruning import turn
from executions.access.actor import Actor
from executions.database.ids import uuid7
from executions.models import Activity, Membership, Workflow, WorkflowExecution
from executions.states import VersionKind
from tests.support import admin_rows as rows
from tests.support.failures import fail

pytestmark = pytest.mark.django_db
LETTERS = "/admin/dlq/deadletterentry/"


@pytest.fixture
def op(admin_client: Client, static_files: None) -> Client:
    return admin_client


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


def page(client: Client, entry: DeadLetterEntry, query: str = "", **headers: str) -> str:
    answer = client.get(f"{LETTERS}{entry.pk}/change/{query}", headers=headers)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def good_run(of: Workflow, **values: Any) -> Any:
    run = rows.run(rows.execution(of, "SUCCESS"), "charge.main", "SUCCESS", **values)
    moment = timezone.now() - timedelta(hours=1)
    type(run.execution).objects.filter(pk=run.execution_id).update(created_at=moment)
    return run


def test_the_page_tells_what_failed_and_what_differs_from_the_last_good_run(
    op: Client, workflow: Workflow
) -> None:
    good_run(workflow, inputs={"url": "http://partner.test/v1", "body": {"amount": 5}})
    entry = rows.failed_order(workflow)

    shown = page(op, entry)

    assert "Kept until it is resolved." in shown
    assert "Compared with the last successful run" in shown
    assert "inputs.body.amount" in shown
    assert "http://partner.test/v1" in shown
    assert "inputs.body.note" in shown
    assert rows.HOSTILE not in shown
    assert f'/{entry.execution_id}/change/?run={entry.run_id}"' in shown


def test_values_that_the_error_names_or_that_differ_are_marked_in_the_inputs(
    op: Client, workflow: Workflow
) -> None:
    good_run(workflow, inputs={"url": "http://partner.test/v1", "body": {"amount": 5}})
    entry = rows.failed_order(workflow)

    shown = page(op, entry)

    mark = '<mark class="vk-suspect vk-suspect-{}" title="{}">{}</mark>'
    named = mark.format("named", "named in the error", "&quot;http://partner.test/charge&quot;")
    differs = "different from the last successful run"
    assert named in shown
    assert mark.format("different", differs, "990") in shown
    assert f"body.amount</span>: {differs}" in shown
    assert shown.index(named) < shown.index("Compared with the last successful run")
    assert rows.HOSTILE not in shown


def test_without_a_good_run_the_page_says_how_far_it_looked(op: Client, workflow: Workflow) -> None:
    assert "This step did not succeed in the last 1 execution" in page(
        op, rows.failed_order(workflow)
    )


def test_in_a_merged_group_only_the_same_fingerprint_is_compared(
    op: Client, workflow: Workflow
) -> None:
    entry, other = fail(workflow, "no stock"), fail(workflow, "nothing left")
    merging.merge(entry.group_id, [other.group_id], actor=Actor(None, "ann", "test"))
    DeadLetterEntry.objects.filter(pk=other.pk).update(group_id=entry.group_id)

    shown = page(op, entry)

    text = "This group has no other dead letters with the same fingerprint."
    assert shown.count(text) == 2


def test_another_failure_is_chosen_in_the_address(op: Client, workflow: Workflow) -> None:
    first, entry = rows.failed_order(workflow), rows.failed_order(workflow)
    DeadLetterEntry.objects.filter(pk=first.pk).update(original_inputs={"only": "there"})

    assert "inputs.only" in page(op, entry, f"?against={first.pk}")
    for odd in ("x", entry.pk):
        assert "that you may view" in page(op, entry, f"?against={odd}")


def test_a_page_costs_a_fixed_number_of_queries(
    op: Client, workflow: Workflow, django_assert_max_num_queries: Any
) -> None:
    for _ in range(4):
        good_run(workflow)
        entry = rows.failed_order(workflow)
    page(op, entry)

    with django_assert_max_num_queries(40):
        page(op, entry)


def test_the_first_look_is_noted_and_only_a_persons(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    address = f"{LETTERS}{entry.pk}/change/"

    op.head(address)
    page(op, entry, **{"Sec-Purpose": "prefetch;prerender"})
    entry.refresh_from_db()
    assert entry.seen_at is None

    page(op, entry)
    entry.refresh_from_db()
    first = entry.seen_at
    assert first is not None
    page(op, entry)
    entry.refresh_from_db()
    assert entry.seen_at == first


def reader(workflow: Workflow) -> Client:
    """Return a client of a user who may see the entries of a workflow, but no payloads."""
    from tests.support.sharing import assign_perm

    user = get_user_model().objects.create_user("grace", is_staff=True)
    Membership.objects.create(user=user, workspace=workflow.workspace, role="USER")
    assign_perm("read_workflow", user, workflow)
    client = Client()
    client.force_login(user)
    return client


def test_who_may_not_see_payloads_sees_none_of_them_anywhere(
    static_files: None, workflow: Workflow
) -> None:
    good_run(workflow, inputs={"url": "http://partner.test/old"}, outputs={"paid": "silver"})
    entry = rows.failed_order(workflow)
    client = reader(workflow)

    shown = page(client, entry)

    for secret in ("partner.test/old", "inputs.url", "reserved", "Copy as curl"):
        assert secret not in shown, secret
    assert not re.search(r"\b990\b", shown)  # an id may contain these digits too
    assert "Copy requeue command" in shown
    assert client.get(f"{LETTERS}{entry.pk}/copy/requeue/").status_code == 200
    for kind in ("curl", "pytest"):
        assert client.get(f"{LETTERS}{entry.pk}/copy/{kind}/").status_code == 403


def test_copies_are_shown_in_a_dialog_and_escaped(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)

    for kind, said in (("curl", "curl"), ("pytest", "failing_module"), ("requeue", "VALKYR_TOKEN")):
        shown = op.get(f"{LETTERS}{entry.pk}/copy/{kind}/").content.decode()
        assert said in shown
        assert "<script>alert" not in shown
    assert op.get(f"{LETTERS}{entry.pk}/copy/fax/").status_code == 404


def test_links_lead_to_where_the_installation_says(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = rows.failed_order(workflow)
    monkeypatch.setenv("VALKYR_TRACE_URL", "https://traces.test/{trace_id}")
    monkeypatch.setenv("VALKYR_SENTRY_URL", "https://sentry.test/?query=execution:{execution_id}")

    shown = page(op, entry)
    assert f"https://sentry.test/?query=execution:{entry.execution_id}" in shown
    assert "traces.test" not in shown
    assert f"args%3A{entry.execution_id}" in shown

    type(entry.execution).objects.filter(pk=entry.execution_id).update(trace_id="a" * 32)
    assert f"https://traces.test/{'a' * 32}" in page(op, entry)
    monkeypatch.setenv("VALKYR_TRACE_URL", "javascript:{trace_id}")
    assert "javascript:" not in page(op, entry)


def test_giving_outputs_begins_with_the_last_good_ones_and_is_refused_at_the_field(
    op: Client, workflow: Workflow
) -> None:
    entry = rows.failed_order(workflow)
    address = f"{LETTERS}{entry.pk}/fix/"
    assert '{"colour": "teal"}' not in op.get(address).content.decode()
    good_run(workflow, outputs={"colour": "teal"})

    begun = op.get(address).context["form"]
    assert begun.initial["outputs"] == '{\n  "colour": "teal"\n}'
    assert "last successful run" in begun.fields["outputs"].help_text

    refused = op.post(address, {"outputs": "1", "outcome": "left", "_form_submitted": "True"})
    assert "outcome" in refused.context["form"].errors
    entry.refresh_from_db()
    assert entry.resolution == "PENDING"
    assert op.post(address, {"outputs": "1", "_form_submitted": "True"}).status_code == 302
    entry.refresh_from_db()
    assert entry.resolution == "FIXED"


def test_test_versions_are_not_listed_as_published(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    version = workflow.latest_version
    assert version is not None
    for number in (2, 3, 4):
        version.pk, version.number, version.kind = uuid7(), number, VersionKind.TEST
        version.save(force_insert=True)

    panel = page(op, entry).partition("Versions published before the first failure")[2]

    assert re.search(r"version 1\s*<", panel)
    assert not re.search(r"version [234]\s*<", panel)


def test_versions_published_after_the_first_failure_are_not_listed(
    op: Client, workflow: Workflow
) -> None:
    entry = rows.failed_order(workflow)
    version = workflow.latest_version
    assert version is not None
    version.pk, version.number = uuid7(), 2
    version.created_at = entry.group.first_seen + timedelta(minutes=1)
    version.save(force_insert=True)

    panel = page(op, entry).partition("Versions published before the first failure")[2]

    assert re.search(r"version 1\s*<", panel)
    assert not re.search(r"version 2\s*<", panel)


def test_with_0_days_of_retention_a_resolved_one_is_never_deleted(
    op: Client, workflow: Workflow, settings: Any
) -> None:
    settings.VALKYR = {**settings.VALKYR, "DLQ_RETENTION_DAYS": 0}
    entry = fail(workflow)
    transitions.resolve(entry, Resolution.DISCARDED, actor=Actor(None, "ann", "test"))

    shown = page(op, entry)

    assert "Never deleted." in shown
    assert "Kept until it is resolved." not in shown


def test_a_discard_needs_a_reason_and_can_be_taken_back(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    address = f"{LETTERS}{entry.pk}"

    # The setting VALKYR_DLQ_RETENTION_DAYS decides how long it can be restored.
    assert "You can restore it until retention deletes it." in op.get(f"{address}/discard/").text
    assert (
        "notes"
        in op.post(f"{address}/discard/", {"_form_submitted": "True"}).context["form"].errors
    )
    op.post(f"{address}/discard/", {"_form_submitted": "True", "notes": "known"})
    entry.refresh_from_db()
    assert (entry.resolution, entry.notes) == ("DISCARDED", "known")
    op.post(f"{address}/restore/", {"_form_submitted": "True", "reason": "a mistake"})
    entry.refresh_from_db()
    assert (entry.resolution, entry.resolved_at, entry.expires_at) == ("PENDING", None, None)
    told = op.post(f"{address}/restore/", {"_form_submitted": "True"}, follow=True)
    assert any("0 restored, 1 skipped" in str(m) for m in told.context["messages"])


def test_many_are_pinned_and_unpinned_and_retention_leaves_the_pinned(
    op: Client, workflow: Workflow
) -> None:
    entries = [rows.failed_order(workflow) for _ in range(3)]
    past = timezone.now() - timedelta(days=1)
    everything = DeadLetterEntry.objects.all()
    everything.update(resolution="DISCARDED", resolved_at=past, expires_at=past)
    chosen = {
        "action": "bulk_pin", "_selected_action": [str(e.pk) for e in entries[:2]],
        "confirmed": "yes", "_form_submitted": "True", "reason": "audit",
    }  # fmt: skip
    op.post(f"{LETTERS}?resolution=all", chosen)
    assert everything.filter(pinned=True).count() == 2

    turn()
    assert everything.count() == 2
    op.post(f"{LETTERS}?resolution=all", chosen | {"action": "bulk_unpin"})
    turn()
    assert not everything.exists()


def test_the_list_is_exported_as_it_is_filtered(op: Client, workflow: Workflow) -> None:
    kept, gone = rows.failed_order(workflow), rows.failed_order(workflow)
    now = timezone.now()
    DeadLetterEntry.objects.filter(pk=gone.pk).update(resolution="DISCARDED", resolved_at=now)
    link = f"{LETTERS}export/?resolution=discarded"
    assert link in op.get(f"{LETTERS}?resolution=discarded").content.decode()

    asked = op.get(link)
    assert "1 dead letter" in asked.content.decode()
    assert not Activity.objects.filter(action="dead_letter.export").exists()
    file: Any = op.post(link)

    [line] = [json.loads(line) for line in b"".join(file.streaming_content).splitlines()]
    assert line["id"] == str(gone.pk) != str(kept.pk)
    assert line["originalInputs"] == gone.original_inputs
    told = Activity.objects.get(action="dead_letter.export")
    assert told.details == {"filters": {"resolution": ["discarded"]}}


@pytest.mark.parametrize("query", ["nonsense=1", "workflow__id__exact=x", "q=%00"])
def test_an_export_with_an_invalid_filter_is_refused(op: Client, query: str) -> None:
    answer = op.get(f"{LETTERS}export/?{query}")
    assert answer.status_code == 400
    assert "filter" in answer.json()["detail"]
    assert op.post(f"{LETTERS}export/?{query}").status_code == 400


def test_a_good_run_before_hundreds_of_failures_is_found(op: Client, workflow: Workflow) -> None:
    good_run(workflow, inputs={"url": "http://partner.test/v1"})
    entry = rows.failed_order(workflow)
    of = {"workflow": workflow, "version": workflow.latest_version, "state": "FAILED"}
    moment = timezone.now() - timedelta(minutes=30)
    WorkflowExecution.objects.bulk_create(
        WorkflowExecution(
            workspace_id=workflow.workspace_id, created_at=moment, finished_at=moment, **of
        )
        for _ in range(LOOKED_THROUGH)
    )

    shown = page(op, entry)

    assert "http://partner.test/v1" in shown
    assert "did not succeed" not in shown
