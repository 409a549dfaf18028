"""Inputs of steps and variables in the payload store, and values inside stored values."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from executions.models import Activity, StoredPayload, StoredPayloadUse, WorkflowExecution
from executions.payload_store import collecting, reading
from executions.payloads import STORED, dump
from executions.sealing import payload_keys
from runners.models import Run
from runners.modules import registry
from runners.public.modules import StepContext, step
from runners.testing.harness import ACTOR, Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.support.payload_store import TEXT, answer, use_store
from valkyr_plugins.timetravel.fork import fork

LARGE = {"text": TEXT}


@step("test.measures")
def measures(value: object, more: str = "") -> dict:
    """Return the length of the inputs as the step sees them."""
    seen = value if not isinstance(value, dict) else value.get("text", sorted(value))
    return {"length": len(str(seen)), "more": len(more)}


@step("test.keeps_bytes")
def keeps(ctx: StepContext, lines: int) -> dict:
    """Store bytes, deep in a large output."""
    content = ctx.store_content([b"line\n" * lines], media_type="text/html")
    return {"deep": [{"content": content}], "filler": "y" * 6_000}


PASSED = """
schema: valkyr/1
name: passed
tasks:
  - {id: first, use: test.measures, with: {value: "{{ input }}"}}
  - {id: last, use: test.measures, after: first, with: {value: 1, more: "{{ input.text }}!"}}
output: "{{ [tasks.first.output.length, tasks.last.output.more] }}"
"""
JOINED = """
schema: valkyr/1
name: joined
tasks:
  - {id: left, use: test.measures, with: {value: "l"}}
  - {id: right, use: test.measures, with: {value: "r"}}
  - {id: both, use: test.measures, after: [left, right], with: {value: "{{ input.text }}!"}}
output: "{{ tasks.both.output.length }}"
"""
VARIABLES = """
schema: valkyr/1
name: variables
variables: {kept: null, small: 1}
tasks:
  - {id: set, use: flow.set_variables, with: {values: {kept: "{{ input }}", small: 2}}}
  - {id: read, use: test.measures, after: set, with: {value: "{{ vars.kept.text }}"}}
  - {id: last, use: test.measures, after: read, with: {value: "{{ vars.small }}"}}
output: "{{ [tasks.read.output.length, vars.kept.text | length] }}"
"""
WAITS = """
schema: valkyr/1
name: waits
tasks:
  - {id: wait, use: flow.approval, with: {title: t, description: "{{ input.text[:4200] }}"}}
output: "{{ tasks.wait.outcome }}"
"""
MAPPED = """
schema: valkyr/1
name: mapped
tasks:
  - id: each
    use: flow.map
    with: {items: "{{ range(0, 40) | list }}"}
    body: {tasks: [{id: fetch, use: http.request, with: {url: "https://bank.example/"}}]}
output: "{{ tasks.each.output }}"
"""
PARENT = """
schema: valkyr/1
name: parent
tasks:
  - {id: call, use: flow.subworkflow, with: {workflow: CHILD}}
  - {id: last, use: flow.noop, after: call, with: {value: "{{ READS }}"}}
output: "{{ tasks.last.output }}"
"""
KEEPS = """
schema: valkyr/1
name: keeps
tasks:
  - {id: keep, use: test.keeps_bytes, with: {lines: 9}}
output: "{{ tasks.keep.output }}"
"""


@pytest.fixture(autouse=True)
def modules():
    for one in (measures, keeps):
        if one.type not in registry.specs():
            registry.add(one.__valkyr_module__)


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


def run_of(execution_id, path: str) -> Run:
    return Run.objects.get(execution_id=execution_id, step_path=path)


def forget(execution_id) -> None:
    WorkflowExecution.objects.update(origin=None, parent=None)
    Run.objects.filter(execution_id=execution_id).delete()
    WorkflowExecution.objects.filter(pk=execution_id).delete()


def test_inputs_refer_to_what_was_passed_on_and_computed_ones_are_stored(valkyr, store):
    run = valkyr.start(PASSED, LARGE).assert_state("SUCCESS")

    assert run.output == [20_000, 20_001]
    first, last = run_of(run.id, "first.main"), run_of(run.id, "last.main")
    assert first.inputs == {"value": run.execution.trigger_payload}
    assert last.inputs[STORED]
    assert last.inputs["preview"]["more"].startswith("xxx")
    found = reading.load(run.execution.workspace_id, last.inputs)
    assert found == {"value": 1, "more": TEXT + "!"}
    assert StoredPayload.objects.count() == 2


def test_the_idempotency_key_does_not_depend_on_the_store(valkyr, store, settings):
    run = valkyr.start(PASSED, LARGE)

    first = run_of(run.id, "first.main")
    assert first.inputs_hash == sha256(dump({"value": LARGE}).encode()).hexdigest()


def test_inputs_that_are_planned_in_a_transaction_are_stored_by_the_next_worker(valkyr, store):
    run = valkyr.start(JOINED, LARGE).assert_state("SUCCESS")

    assert run.output == 20_001
    assert run_of(run.id, "both.main").inputs[STORED]


def test_variables_are_recorded_by_reference_and_read_by_templates(valkyr, store):
    run = valkyr.start(VARIABLES, LARGE).assert_state("SUCCESS")

    assert run.output == [20_000, 20_000]
    variables = run.execution.context_data
    assert variables["kept"][STORED] == run.execution.trigger_payload[STORED]
    assert variables["small"] == 2
    outputs = run_of(run.id, "set.main").outputs
    assert outputs == variables


def test_sealed_inputs_and_variables_are_references_inside_envelopes(valkyr, store):
    payload_keys.make(valkyr.workspace.pk)

    run = valkyr.start(VARIABLES, {"text": "m4rker" * 2_000}).assert_state("SUCCESS")

    assert run.output == [12_000, 12_000]
    for path in store.rglob("*"):
        assert path.is_dir() or b"m4rker" not in path.read_bytes()
    rows = WorkflowExecution.objects.filter(pk=run.id)
    [raw] = rows.values_list("context_data", flat=True)
    assert set(raw["kept"]) == {"$sealed"}
    assert run.execution.context_data["kept"]["key"]


def test_a_fork_reads_the_variables_of_its_origin_also_after_it(valkyr, store):
    origin = valkyr.start(VARIABLES, LARGE).assert_state("SUCCESS")

    made = fork(origin.id, step_path="last.main", actor=ACTOR)
    forget(origin.id)

    assert collecting.collect(grace=timedelta(0)).deleted == 0
    forked = WorkflowRun(made.pk, {}).carry().assert_state("SUCCESS")
    assert forked.output == [20_000, 20_000]


def test_a_woken_step_reads_its_recorded_inputs(valkyr, store):
    run = valkyr.start(WAITS, LARGE)
    assert run_of(run.id, "wait.main").inputs[STORED]

    run.approve("wait")

    run.assert_state("SUCCESS")


def test_large_inputs_that_cannot_be_stored_are_a_transient_failure(valkyr, store, settings):
    store.write_text("a file where the folder should be")

    failed = valkyr.start(
        PASSED.replace('value: "{{ input }}"', 'value: "{{ input.text ~ input.text }}"'),
        {"text": "w" * 4_050},
    )

    first = Run.objects.get(execution_id=failed.id, attempt=1, step_path="first.main")
    assert first.error_type == "TRANSIENT"


def test_values_inside_a_stored_value_are_kept_with_it(valkyr, store):
    """Values inside a stored value are kept with it: the child's output, a list of references,
    is a stored value itself.
    """
    child = valkyr.publish(MAPPED)
    parent = PARENT.replace("CHILD", child.slug).replace(
        "READS", "tasks.call.output.output | map(attribute='body.id') | map('length') | sum"
    )

    run = valkyr.start(parent, {}, answers={"http.request": answer()}).assert_state("SUCCESS")

    assert run.output == 800_000
    made = WorkflowExecution.objects.get(parent_id=run.id)
    outer = StoredPayload.objects.get(pk=run_of(run.id, "call.main").outputs[STORED])
    assert len(outer.refers_to) == 1
    forget(made.pk)
    assert collecting.collect(grace=timedelta(0)).deleted == 0
    uses = StoredPayloadUse.objects.filter(holder_id=run.id)
    assert {one.payload_id for one in uses} >= {outer.pk, *outer.refers_to}
    again = fork(run.id, step_path="last.main", actor=ACTOR)
    forget(run.id)
    assert collecting.collect(grace=timedelta(0)).deleted == 0
    assert WorkflowRun(again.pk, {}).carry().output == 800_000
    forget(again.pk)
    assert collecting.collect(grace=timedelta(0)).deleted == 2


def test_a_value_inside_a_stored_value_counts_towards_the_limit(valkyr, store, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 100_000}
    child = valkyr.publish(MAPPED)
    parent = PARENT.replace("CHILD", child.slug).replace("READS", "tasks.call.output.output[0]")

    run = valkyr.start(parent, {}, answers={"http.request": answer()})

    run.assert_state("FAILED")
    assert "at most 100,000 are allowed" in run.execution.error_message


def test_a_content_deep_in_a_stored_output_is_downloaded(valkyr, store, client, django_user_model):
    run = valkyr.start(KEEPS, {}).assert_state("SUCCESS")
    outputs = run_of(run.id, "keep.main").outputs
    [content] = StoredPayload.objects.exclude(pk=outputs[STORED])
    url = reverse("valkyr-execution-stored", args=[run.id, content.pk])
    stranger = APIClient()
    stranger.force_authenticate(django_user_model.objects.create_user("stranger"))

    found = client.get(url)
    other = client.get(reverse("valkyr-execution-stored", args=[run.id, run.id]))

    assert found.content == b"line\n" * 9
    assert found["Content-Type"] == "application/octet-stream"
    assert found["Content-Disposition"].startswith("attachment")
    assert found["X-Content-Type-Options"] == "nosniff"
    assert Activity.objects.filter(action="payload.download", object_id=str(run.id)).exists()
    assert other.status_code == 404
    assert stranger.get(url).status_code in (403, 404)


def test_the_pages_of_a_run_and_of_an_execution_link_to_nested_values(
    valkyr, store, settings, admin_client
):
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    run = valkyr.start(PASSED, LARGE).assert_state("SUCCESS")
    first = run_of(run.id, "first.main")
    url = reverse("valkyr-execution-stored", args=[run.id, run.execution.trigger_payload[STORED]])

    of_run = admin_client.get(reverse("admin:runners_run_change", args=[first.pk]))
    of_execution = admin_client.get(
        reverse("admin:executions_workflowexecution_change", args=[run.id])
    )

    assert url in of_run.content.decode()
    assert url in of_execution.content.decode()
