"""Payloads of starts in the payload store are written before the start commits, and read by
templates.
"""

import json
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.urls import reverse
from rest_framework.test import APIClient

from executions.admission.capacity import admit
from executions.definition.graph.trial.request import TrialRequest
from executions.errors import InvalidPayload, QuotaExceeded
from executions.models import StoredPayload, StoredPayloadUse, Tier, Trigger, WorkflowExecution
from executions.payload_store import PayloadStoreUnavailable, collecting, files
from executions.payloads import STORED
from executions.publishing.operations import start_trial
from executions.sealing import payload_keys
from executions.triggers import stored_input, webhook
from executions.triggers.event import publish_event
from executions.triggers.start import start_batch, start_execution
from runners.models import Run
from runners.public.forks import Overrides
from runners.testing.harness import ACTOR, Valkyr
from runners.testing.workflow_run import WorkflowRun
from runners.waits.events import NobodyWaits
from tests.support.payload_store import TEXT, use_store
from valkyr_plugins.timetravel.fork import fork, replay

LARGE = {"text": TEXT, "customer": "c1"}
READS = """
schema: valkyr/1
name: reads
tasks:
  - {id: first, use: flow.noop, with: {value: "{{ input.text | length }} {{ input.customer }}"}}
  - {id: last, use: flow.noop, after: first, with: {value: "{{ input.customer }}"}}
output: {read: "{{ tasks.first.output }}"}
"""
SCHEMA = (
    READS
    + """
input:
  type: object
  required: [text]
  properties: {text: {type: string, maxLength: 30000}}
"""
)
PARENT = """
schema: valkyr/1
name: parent
tasks:
  - {id: call, use: flow.subworkflow, with: {workflow: reads, input: "{{ input }}"}}
output: "{{ tasks.call.output.output.read }}"
"""
ON_EVENT = (
    READS
    + """
triggers:
  - {type: WEBHOOK, auth: bearer}
  - {type: EVENT, event: order.paid, filter: "{{ event.customer == 'c1' }}"}
"""
)
FAILING = """
schema: valkyr/1
name: failing
settings: {onFailure: {workflow: reads-error}}
tasks:
  - {id: fails, use: flow.fail, with: {message: no}}
"""
ON_ERROR = """
schema: valkyr/1
name: reads-error
tasks:
  - {id: first, use: flow.noop, with: {value: "{{ input.execution.input.text | length }}"}}
output: "{{ tasks.first.output }}"
"""


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db, store):
    payload_keys.forget()
    return Valkyr()


@pytest.fixture
def client(django_user_model) -> APIClient:
    made = APIClient()
    made.force_authenticate(django_user_model.objects.create_superuser("root", "", "p"))
    return made


def files_in(store: Path) -> list[Path]:
    return [path for path in store.rglob("*") if path.is_file()]


def finished(pk: UUID) -> WorkflowExecution:
    run = WorkflowRun(pk, {}).carry().assert_state("SUCCESS")
    return run.execution


def assert_read(execution: WorkflowExecution) -> None:
    assert execution.trigger_payload[STORED]
    assert execution.trigger_payload["bytes"] > len(TEXT)
    assert execution.output["read"] == "20000 c1"


def forget(execution_id: UUID) -> None:
    WorkflowExecution.objects.update(origin=None, parent=None)
    Run.objects.filter(execution_id=execution_id).delete()
    WorkflowExecution.objects.filter(pk=execution_id).delete()


def test_the_row_of_a_large_payload_holds_a_reference_that_templates_read(valkyr, store):
    run = valkyr.start(READS, LARGE)

    assert_read(finished(run.id))
    assert run.execution.trigger_payload["preview"] == {"customer": "c1", "text": "x" * 80 + "…"}
    assert len(files_in(store)) == StoredPayload.objects.count() == 1


def test_an_output_that_is_the_payload_refers_to_it(valkyr, store):
    whole = READS.replace('{read: "{{ tasks.first.output }}"}', '"{{ input }}"')

    run = valkyr.start(whole, LARGE).assert_state("SUCCESS")

    assert run.output == run.execution.trigger_payload
    assert run.output[STORED]


def test_no_connection_is_held_while_the_file_is_written(valkyr, store, monkeypatch):
    seen, write = list[object](), files.write_parts
    monkeypatch.setattr(
        files, "write_parts",
        lambda *given: seen.append(connection.connection) or write(*given),
    )  # fmt: skip

    valkyr.start(READS, LARGE).assert_state("SUCCESS")

    assert seen == [None]


def test_the_api_accepts_a_body_up_to_the_limit_of_starts(valkyr, store, settings, client):
    workflow = valkyr.publish(READS)
    url = reverse("valkyr-workflow-execute", args=[workflow.pk])
    text = "y" * 2_000_000
    body = {"params": {"text": text, "customer": "c1"}}

    refused = client.post(url, body, format="json")
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_START_LIMIT": 3_000_000}
    accepted = client.post(url, body, format="json", headers={"Idempotency-Key": "k1"})
    repeated = client.post(url, body, format="json", headers={"Idempotency-Key": "k1"})

    assert refused.status_code == 422, refused.content
    assert "1,048,576" in refused.json()["detail"]
    assert accepted.status_code == repeated.status_code == 202, accepted.content
    assert accepted.json()["id"] == repeated.json()["id"]
    assert len(files_in(store)) == 1
    execution = finished(accepted.json()["id"])
    assert execution.output["read"] == "2000000 c1"
    whole = client.get(
        reverse("valkyr-execution-stored", args=[execution.pk, execution.trigger_payload[STORED]])
    )
    assert json.loads(whole.content)["text"] == text


def test_a_batch_shares_the_file_of_equal_payloads(valkyr, store):
    workflow = valkyr.publish(READS)

    made = start_batch(workflow, [LARGE, {"text": "a", "customer": "c2"}, LARGE], actor=ACTOR)

    stored = [STORED in WorkflowExecution.objects.get(pk=one.pk).trigger_payload for one in made]
    assert stored == [True, False, True]
    assert len(files_in(store)) == 1
    for one in made:
        finished(one.pk)


def test_a_batch_with_an_idempotency_key_stores_its_payloads_before_its_transaction(
    valkyr, store, client
):
    workflow = valkyr.publish(READS)
    url = reverse("valkyr-workflow-execute-batch", args=[workflow.pk])
    body = {"payloads": [LARGE, {"text": "a", "customer": "c2"}]}

    first = client.post(url, body, format="json", headers={"Idempotency-Key": "b1"})
    again = client.post(url, body, format="json", headers={"Idempotency-Key": "b1"})

    assert first.status_code == again.status_code == 202, first.content
    assert first.json() == again.json()
    large, small = first.json()["ids"]
    assert_read(finished(large))
    assert finished(small).trigger_payload == body["payloads"][1]
    assert len(files_in(store)) == 1


def test_a_webhook_an_event_and_a_test_run_store_their_payloads(valkyr, store):
    workflow = valkyr.publish(ON_EVENT)

    event = publish_event(valkyr.workspace, "order.paid", LARGE, actor=ACTOR).event
    assert_read(finished(event.started[0]["executionId"]))
    hook = Trigger.objects.get(workflow=workflow, type="WEBHOOK")
    caller = webhook.Authentic(hook, None)
    called = webhook.accept(caller, LARGE, actor=ACTOR).execution
    assert_read(finished(called.pk))
    trial = start_trial(workflow, LARGE, TrialRequest(), actor=ACTOR)
    assert_read(finished(trial.pk))


def test_a_start_in_a_transaction_keeps_its_payload_in_the_row(valkyr, store):
    workflow = valkyr.publish(READS)

    with transaction.atomic():
        made = start_execution(workflow, LARGE, actor=ACTOR, joined=True).execution
        with pytest.raises(InvalidPayload, match="1,048,576"):
            start_execution(workflow, {"text": "z" * 2**20}, actor=ACTOR, joined=True)

    assert WorkflowExecution.objects.get(pk=made.pk).trigger_payload == LARGE
    assert not files_in(store)


def test_a_refused_start_leaves_a_file_that_is_collected_after_the_grace_period(valkyr, store):
    workflow = valkyr.publish(READS)
    Tier.objects.filter(pk=valkyr.workspace.tier_id).update(max_per_day=0)
    try:
        with pytest.raises(QuotaExceeded):
            start_execution(workflow, LARGE, actor=ACTOR)
    finally:
        Tier.objects.filter(pk=valkyr.workspace.tier_id).update(max_per_day=None)

    assert not StoredPayloadUse.objects.exists()
    assert len(files_in(store)) == 1
    assert collecting.collect().checked == 0
    assert collecting.collect(grace=timedelta(0)).deleted == 1
    assert not files_in(store)


def test_a_payload_that_was_collected_before_its_start_is_not_referred_to(valkyr, store):
    workflow = valkyr.publish(READS)
    given = stored_input.stored(workflow.workspace_id, LARGE)
    assert collecting.collect(grace=timedelta(0)).deleted == 1

    with pytest.raises(PayloadStoreUnavailable, match="Try again"):
        start_execution(workflow, given, actor=ACTOR)

    assert not WorkflowExecution.objects.exists()
    assert_read(finished(start_execution(workflow, LARGE, actor=ACTOR).execution.pk))


def test_a_store_that_is_away_refuses_the_start(valkyr, store, client):
    workflow = valkyr.publish(READS)
    store.write_text("a file where the folder should be")
    url = reverse("valkyr-workflow-execute", args=[workflow.pk])

    found = client.post(url, {"params": LARGE}, format="json")

    assert (found.status_code, found.json()["code"]) == (503, "payload_store_unavailable")
    assert not WorkflowExecution.objects.exists()


def test_a_sealed_workspace_seals_payload_and_preview(valkyr, store):
    payload_keys.make(valkyr.workspace.pk)

    run = valkyr.start(READS, {"text": "m4rker" * 2_000, "customer": "c1"})

    assert finished(run.id).output["read"] == "12000 c1"
    [file] = files_in(store)
    assert b"m4rker" not in file.read_bytes()
    rows = WorkflowExecution.objects.filter(pk=run.id)
    assert set(rows.values_list("trigger_payload", flat=True).get()) == {"$sealed"}


def test_a_replay_and_a_fork_refer_to_the_same_value_also_after_the_origin(valkyr, store):
    origin = valkyr.start(SCHEMA, LARGE).assert_state("SUCCESS")

    made = [replay(origin.id, actor=ACTOR), fork(origin.id, actor=ACTOR)]
    made.append(fork(origin.id, step_path="last.main", actor=ACTOR))

    assert len(files_in(store)) == 1
    forget(origin.id)
    assert collecting.collect(grace=timedelta(0)).deleted == 0
    for one in made:
        assert_read(finished(one.pk))


def test_a_fork_with_a_changed_input_stores_the_changed_value(valkyr, store):
    origin = valkyr.start(SCHEMA, LARGE).assert_state("SUCCESS")

    made = fork(origin.id, overrides=Overrides(input={"customer": "c2"}), actor=ACTOR)

    assert finished(made.pk).output["read"] == "20000 c2"
    assert len(files_in(store)) == 2
    with pytest.raises(InvalidPayload):
        fork(origin.id, overrides=Overrides(input={"text": "x" * 40_000}), actor=ACTOR)


def test_a_child_gets_its_parents_input_by_reference_and_keeps_it(valkyr, store):
    valkyr.publish(SCHEMA)

    run = valkyr.start(PARENT, LARGE).assert_state("SUCCESS")

    assert run.output == "20000 c1"
    child = WorkflowExecution.objects.get(parent_id=run.id)
    assert child.trigger_payload[STORED] == run.execution.trigger_payload[STORED]
    forget(run.id)
    assert collecting.collect(grace=timedelta(0)).deleted == 0
    assert len(files_in(store)) == 1


def test_a_child_gets_a_computed_input_in_the_store(valkyr, store):
    valkyr.publish(READS)
    definition = PARENT.replace(
        '"{{ input }}"', '{text: "{{ input.text ~ input.text }}", customer: c3}'
    )

    run = valkyr.start(definition, LARGE).assert_state("SUCCESS")

    assert run.output == "40000 c3"
    assert WorkflowExecution.objects.get(parent_id=run.id).trigger_payload[STORED]


def test_an_error_workflow_reads_the_failed_executions_input(valkyr, store):
    handler = valkyr.publish(ON_ERROR)
    failing = FAILING.replace("reads-error", handler.slug)
    run = valkyr.start(failing, LARGE)

    [note] = WorkflowExecution.objects.filter(failure_of_id=run.id)
    admit(valkyr.workspace.pk)
    assert finished(note.pk).output == 20_000


def test_a_payload_above_the_load_limit_is_passed_on_and_not_read(valkyr, store, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 65_536}
    passed = READS.replace("{{ input.text | length }} {{ input.customer }}", "{{ input }}")
    passed = passed.replace('value: "{{ input.customer }}"', 'value: {a: "{{ input }}"}')
    passed = passed.replace('{read: "{{ tasks.first.output }}"}', '["{{ tasks.last.output.a }}"]')
    large = {"text": "y" * 100_000, "customer": "c1"}

    run = valkyr.start(passed, large).assert_state("SUCCESS")
    refused = valkyr.start(READS, large)

    first = Run.objects.get(execution_id=run.id, step_path="first.main")
    assert first.outputs == run.execution.trigger_payload
    assert run.output == [run.execution.trigger_payload]
    refused.assert_state("FAILED")
    assert "at most 65,536 are allowed" in Run.objects.get(execution_id=refused.id).error


def test_a_filter_that_reads_a_stored_payload_says_that_it_cannot(valkyr, store):
    waits = """
schema: valkyr/1
name: waits
tasks:
  - id: wait
    use: flow.wait_for_event
    with: {event: paid, filter: "{{ input.customer == 'c1' }}"}
"""
    run = valkyr.start(waits, LARGE)

    with pytest.raises(NobodyWaits):
        run.signal("paid", {})
    [log] = Run.objects.get(execution_id=run.id, step_path="wait.main").logs
    assert "input contains a value in object storage" in log["message"]
