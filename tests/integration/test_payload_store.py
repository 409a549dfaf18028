"""Large outputs of steps in a store: written before the record, read by templates, and
collected.
"""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from executions.models import Activity, StoredPayload, StoredPayloadUse, WorkflowExecution
from executions.payload_store import (
    PayloadStoreUnavailable,
    StoredValueBroken,
    collecting,
    files,
    writing,
)
from executions.payloads import STORED
from executions.sealing import payload_keys
from runners.models import Run
from runners.testing.harness import Valkyr
from tests.support.payload_store import TEXT, answer, use_store
from tests.support.rivals import Rivals

ONE = """
schema: valkyr/1
name: large
tasks:
  - {id: first, use: http.request, with: {url: "https://bank.example/"}}
  - {id: last, use: flow.noop, after: first,
     with: {value: "{{ tasks.first.output.body.id | length }}"}}
output: "{{ tasks.last.output }}"
"""
BRANCHES = """
schema: valkyr/1
name: branches
tasks:
  - {id: left, use: http.request, with: {url: "https://bank.example/left"}}
  - {id: right, use: http.request, with: {url: "https://bank.example/right"}}
  - {id: both, use: http.request, after: [left, right], with: {
      url: "https://bank.example/both", method: POST,
      json: "{{ tasks.left.output.body.id[:3] ~ tasks.right.output.body.id[:3] }}"}}
output: "{{ tasks.left.output }}"
"""
DEEPER = """
schema: valkyr/1
name: deeper
tasks:
  - {id: left, use: http.request, with: {url: "https://bank.example/left"}}
  - {id: right, use: http.request, with: {url: "https://bank.example/right"}}
output: "{{ tasks.left.output.body.id[:3] ~ tasks.right.output.body.id[:3] }}"
"""


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db):
    payload_keys.forget()
    return Valkyr()


def encoded() -> writing.Encoded:
    return writing.encoded(TEXT, "text", 100_000)


def stored_files(store: Path) -> list[Path]:
    return sorted(path for path in store.rglob("*") if path.is_file())


def test_the_row_of_a_large_output_holds_a_reference_that_templates_read(valkyr, store):
    run = valkyr.start(ONE, {}, answers={"http.request": answer()})

    run.assert_state("SUCCESS")
    outputs = Run.objects.get(execution_id=run.execution.pk, step_path="first.main").outputs
    assert outputs["bytes"] > 20_000
    assert outputs["type"] == "object"
    assert outputs["preview"]["body"] == {"id": "x" * 80 + "…"}
    [file] = stored_files(store)
    assert outputs["digest"] in file.name
    assert outputs[STORED] in file.name
    assert WorkflowExecution.objects.get(pk=run.execution.pk).output == 20_000


def test_parallel_branches_are_joined_by_a_step_that_reads_both(valkyr, store):
    run = valkyr.start(BRANCHES, {}, answers={"http.request": answer()})

    run.assert_state("SUCCESS")
    joined = Run.objects.get(execution_id=run.execution.pk, step_path="both.main")
    assert joined.inputs["json"] == "xxxxxx"
    # The output is a step's whole output, so the row holds its reference.
    assert WorkflowExecution.objects.get(pk=run.execution.pk).output[STORED]


def test_the_workflows_output_reads_stored_values_of_several_segments(valkyr, store):
    run = valkyr.start(DEEPER, {}, answers={"http.request": answer()})

    run.assert_state("SUCCESS")
    assert WorkflowExecution.objects.get(pk=run.execution.pk).output == "xxxxxx"


def test_equal_outputs_of_a_workspace_share_one_file(valkyr, store):
    for _ in range(2):
        valkyr.start(ONE, {}, answers={"http.request": answer()}).assert_state("SUCCESS")

    assert len(stored_files(store)) == StoredPayload.objects.count() == 1
    assert StoredPayloadUse.objects.count() == 2


def test_a_sealed_workspace_seals_the_file_and_the_preview(valkyr, store):
    payload_keys.make(valkyr.workspace.pk)

    run = valkyr.start(ONE, {}, answers={"http.request": answer("m4rker" * 2_000)})

    run.assert_state("SUCCESS")
    [file] = stored_files(store)
    assert b"m4rker" not in file.read_bytes()
    [raw] = Run.objects.filter(execution_id=run.execution.pk, step_path="first.main").values_list(
        "outputs", flat=True
    )
    assert set(raw) == {"$sealed"}


def test_an_output_that_cannot_be_stored_is_a_transient_failure(valkyr, store):
    store.write_text("a file where the folder should be")

    run = valkyr.start(ONE, {}, answers={"http.request": answer()})

    first = Run.objects.filter(execution_id=run.execution.pk, attempt=1).get()
    assert first.error_type == "TRANSIENT"
    assert "VALKYR_PAYLOAD_STORE" in first.error


def test_a_value_above_the_limit_is_not_loaded(valkyr, store, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 65_536}

    run = valkyr.start(ONE, {}, answers={"http.request": answer("y" * 100_000)})

    last = Run.objects.get(execution_id=run.execution.pk, step_path="last.main")
    assert "at most 65,536 are allowed" in last.error


def only(output: str) -> str:
    return ONE[: ONE.index("  - {id: last")] + f"output: {output}\n"


@pytest.mark.parametrize(
    "output",
    ['"{{ tasks.first.output }}"', '{status: 1, all: ["{{ tasks.first.output }}"]}'],
)
def test_a_workflows_output_above_the_limit_is_passed_on_as_a_reference(
    valkyr, store, settings, output
):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 65_536}

    run = valkyr.start(only(output), {}, answers={"http.request": answer("y" * 100_000)})

    run.assert_state("SUCCESS")
    found = WorkflowExecution.objects.get(pk=run.execution.pk).output
    found = found["all"][0] if "all" in found else found
    stored = Run.objects.get(execution_id=run.execution.pk).outputs
    assert found == stored
    assert found["bytes"] > 100_000


@pytest.mark.parametrize(
    "output",
    ["tasks.first.output.body", "tasks.first.output | length", "tasks.first.output == none",
     "tasks.first.output.keys()", "[tasks.first.output]", "tasks.first.output ~ ''"],
)  # fmt: skip
def test_a_workflows_output_that_reads_a_value_above_the_limit_fails(
    valkyr, store, settings, output
):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 65_536}
    definition = only(f'"{{{{ {output} }}}}"')

    run = valkyr.start(definition, {}, answers={"http.request": answer("y" * 100_000)})

    run.assert_state("FAILED")
    message = WorkflowExecution.objects.get(pk=run.execution.pk).error_message
    assert "at most 65,536 are allowed" in message


def test_an_output_that_is_too_large_for_its_row_refers_to_its_values(valkyr, store):
    values = '{left: "{{ tasks.left.output }}", right: "{{ tasks.right.output }}"}'
    definition = DEEPER[: DEEPER.index("output:")] + f"output: {values}\n"

    run = valkyr.start(definition, {}, answers={"http.request": answer("z" * 3_000_000)})

    run.assert_state("SUCCESS")
    output = WorkflowExecution.objects.get(pk=run.execution.pk).output
    assert {name: value["type"] for name, value in output.items()} == {
        "left": "object", "right": "object",
    }  # fmt: skip


def test_values_are_collected_after_their_executions(valkyr, store):
    run = valkyr.start(ONE, {}, answers={"http.request": answer()})

    assert collecting.collect(grace=timedelta(0)).deleted == 0
    Run.objects.filter(execution_id=run.execution.pk).delete()
    WorkflowExecution.objects.filter(pk=run.execution.pk).delete()
    assert collecting.collect(grace=timedelta(hours=1)).checked == 0
    found = collecting.collect(grace=timedelta(0))

    assert found.deleted == 1
    assert found.size > 20_000
    assert not stored_files(store)
    assert not StoredPayload.objects.exists()


def test_a_value_that_is_wanted_while_it_is_collected_gets_a_file_of_its_own(valkyr, store):
    workspace = valkyr.workspace.pk
    gone = WorkflowExecution(id=workspace)
    text = encoded()
    old = writing.note(workspace, gone.pk, text, None)
    writing.write(workspace, old, text.parts())
    writing.written(old)
    _, due = collecting._marked(timedelta(0))

    again = writing.note(workspace, gone.pk, text, None)
    writing.write(workspace, again, text.parts())
    files.remove(writing.file_name(workspace, old.digest, old.pk))

    assert [row.pk for row in due] == [old.pk] != [again.pk]
    [file] = stored_files(store)
    assert str(again.pk) in file.name


def test_a_start_that_holds_the_value_is_not_overtaken_by_the_collector(valkyr, store):
    row = writing.note(valkyr.workspace.pk, valkyr.workspace.pk, encoded(), None)

    with Rivals() as rivals, transaction.atomic():
        StoredPayload.objects.select_for_update(no_key=True).get(pk=row.pk)
        assert rivals.begin(collecting._marked, timedelta(0)).result(60) == (0, [])


def test_the_store_reports_that_it_does_not_answer(store):
    store.parent.joinpath("payloads").write_text("no folder")

    with pytest.raises(PayloadStoreUnavailable, match="could not be written"):
        files.probe()


def test_a_user_downloads_a_stored_output_and_it_is_recorded(valkyr, store, django_user_model):
    run = valkyr.start(BRANCHES, {}, answers={"http.request": answer()})
    left = Run.objects.get(execution_id=run.execution.pk, step_path="left.main")
    client = APIClient()
    client.force_authenticate(django_user_model.objects.create_superuser("root", "", "p"))

    shown = client.get(reverse("valkyr-run", args=[left.pk])).json()["outputs"]
    output = client.get(reverse("valkyr-run-output", args=[left.pk]))
    whole = client.get(reverse("valkyr-execution-output", args=[run.execution.pk]))
    small = client.get(
        reverse("valkyr-run-output", args=[Run.objects.exclude(pk=left.pk).last().pk])
    )

    assert shown["$stored"] == left.outputs[STORED]
    assert json.loads(output.content)["body"]["id"] == TEXT
    assert whole.content == output.content
    assert small.status_code in (200, 404)
    assert Activity.objects.filter(action="payload.download", object_id=str(left.pk)).exists()


def test_a_large_value_is_downloaded_in_parts(valkyr, store, settings, django_user_model):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 65_536}
    payload_keys.make(valkyr.workspace.pk)
    text = "0123456789" * 1_000_000
    run = valkyr.start(ONE, {}, answers={"http.request": answer(text)})
    first = Run.objects.get(execution_id=run.execution.pk, step_path="first.main")
    client = APIClient()
    client.force_authenticate(django_user_model.objects.create_superuser("root", "", "p"))

    found = client.get(reverse("valkyr-run-output", args=[first.pk]))

    assert found.streaming
    parts = list(found.streaming_content)
    assert max(map(len, parts)) <= 2**20
    assert json.loads(b"".join(parts))["body"]["id"] == text
    assert int(found["Content-Length"]) == sum(map(len, parts))


def test_a_damaged_value_ends_its_download_early(valkyr, store, django_user_model):
    run = valkyr.start(ONE, {}, answers={"http.request": answer("x" * 6_000_000)})
    first = Run.objects.get(execution_id=run.execution.pk, step_path="first.main")
    [file] = stored_files(store)
    with file.open("r+b") as opened:
        opened.seek(5_000_000)
        opened.write(b"y")
    client = APIClient()
    client.force_authenticate(django_user_model.objects.create_superuser("root", "", "p"))

    found = client.get(reverse("valkyr-run-output", args=[first.pk]))

    sent = []
    with pytest.raises(StoredValueBroken, match="differs from its digest"):
        sent.extend(found.streaming_content)
    assert sum(map(len, sent)) < first.outputs["bytes"]


def test_a_member_without_view_payloads_downloads_nothing(valkyr, store, django_user_model):
    run = valkyr.start(ONE, {}, answers={"http.request": answer()})
    client = APIClient()
    client.force_authenticate(django_user_model.objects.create_user("stranger"))

    found = client.get(reverse("valkyr-execution-output", args=[run.execution.pk]))

    assert found.status_code in (403, 404)


def test_the_command_shows_checks_and_collects(valkyr, store):
    valkyr.start(ONE, {}, answers={"http.request": answer()})
    told = StringIO()

    call_command("payload_store", "show", stdout=told)
    call_command("payload_store", "check", stdout=told)
    call_command("payload_store", "collect", "--grace-hours", "0", stdout=told)

    assert told.getvalue().splitlines() == [
        f"1 values, {StoredPayload.objects.get().size:,} bytes; no execution needs 0 of them.",
        "The store accepts, returns and deletes files.",
        "Checked 1 values, deleted 0 (0 bytes).",
    ]


def test_without_a_store_no_statement_mentions_it(valkyr):
    with CaptureQueriesContext(connection) as queries:
        valkyr.start(BRANCHES, {}, answers={"http.request": answer()}).assert_state("SUCCESS")

    assert not [one for one in queries if "storedpayload" in one["sql"]]
