"""Plugins that read references to stored payloads and inputs in rows."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from dlq.copying.copies import CannotCopy, as_pytest
from dlq.models import DeadLetterEntry
from executions.definition.graph.document import load_text
from executions.models import Workflow, WorkflowExecution
from executions.payloads import STORED
from executions.publishing import versioning
from executions.sealing import payload_keys
from runners.models import Run
from runners.repair.version_changes import CannotMove, VersionMove, move_execution
from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.plugins.backtest.comparing import compared, texts
from tests.support.payload_store import TEXT, use_store
from tests.support.workflows import ACTOR
from valkyr_plugins.redrive import driver, lifecycle
from valkyr_plugins.redrive.lifecycle import RedriveOptions, make
from valkyr_plugins.redrive.models import Redrive, RedriveItem, RedriveScope
from valkyr_plugins.redrive.preview import preview
from valkyr_plugins.timetravel.verify import verify

LARGE = {"text": TEXT, "customer": "c1"}
FAILS = """
schema: valkyr/1
name: fails
tasks:
  - {id: call, use: http.request, with: {url: "https://{{ input.customer }}.example/",
     method: POST, json: "{{ input }}"}}
output: "{{ input.customer }} {{ input.text | length }}"
"""
READS = """
schema: valkyr/1
name: reads
variables: {kept: null}
tasks:
  - {id: set, use: flow.set_variables, with: {values: {kept: "{{ input }}"}}}
  - {id: read, use: flow.noop, after: set, with: {value: "{{ vars.kept.text ~ input.customer }}"}}
output: "{{ input.customer }} {{ tasks.read.output | length }}"
"""
WAITS = """
schema: valkyr/1
name: waits
tasks:
  - {id: wait, use: flow.approval, with: {title: t}}
output: "{{ input.customer }}"
"""


@pytest.fixture
def store(settings: Any, tmp_path: Path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db: None, store: Path) -> Valkyr:
    payload_keys.forget()
    return Valkyr()


@pytest.fixture
def letter(valkyr: Valkyr) -> DeadLetterEntry:
    """Create a dead letter of a step whose inputs refer to the stored payload."""
    run = valkyr.start(FAILS, LARGE, answers={"http.request": ValueError("no")})
    found = DeadLetterEntry.objects.get(execution_id=run.id)
    assert found.original_inputs["json"] == run.execution.trigger_payload
    assert found.original_inputs["json"][STORED]
    return found


def answer(inputs: Any, context: Any) -> dict[str, Any]:
    assert inputs.json_body["text"] == TEXT
    return {
        "status": 200, "headers": {}, "body": inputs.url, "bodyEncoding": "json", "url": "u",
        "durationMs": 1,
    }  # fmt: skip


def begun(entry: DeadLetterEntry, **wish: Any) -> Redrive:
    rows = DeadLetterEntry.objects.filter(pk=entry.pk)
    made = make(rows, RedriveOptions(**wish), actor=ACTOR)
    assert TEXT not in str(preview(made.pk))
    return lifecycle.start(made.pk, actor=ACTOR)


def driven(redrive: Redrive) -> RedriveItem:
    driver.drive()
    return RedriveItem.objects.get(redrive=redrive)


def finished(pk: UUID) -> WorkflowExecution:
    run = WorkflowRun(pk, {"http.request": answer}).carry().assert_state("SUCCESS")
    return run.execution


def test_a_redriven_step_reads_the_stored_payload_again(letter: DeadLetterEntry) -> None:
    item = driven(begun(letter, overrides={"url": "https://other.example/"}))

    assert item.state == "RUNNING", item.reason
    assert finished(letter.execution_id).output == "c1 20000"
    call = Run.objects.get(execution_id=letter.execution_id, attempt=2)
    assert call.inputs["url"] == "https://other.example/"
    assert call.inputs["json"][STORED]


def test_a_redriven_execution_stores_its_changed_payload(letter: DeadLetterEntry) -> None:
    item = driven(
        begun(letter, scope=RedriveScope.EXECUTION, overrides={"customer": "c2", "more": [1]})
    )

    assert item.state == "RUNNING", item.reason
    made = finished(item.execution_id)
    assert made.output == "c2 20000"
    assert made.trigger_payload[STORED] != letter.original_inputs["json"][STORED]


def test_an_expression_that_reads_stored_inputs_is_refused(letter: DeadLetterEntry) -> None:
    item = driven(begun(letter, expression='{"url": "https://" ~ inputs.json.customer}'))

    assert item.state == "SKIPPED"
    assert DeadLetterEntry.objects.get(pk=letter.pk).resolution == "PENDING"


def test_a_dead_letter_with_stored_inputs_is_not_copied_as_a_test(letter: DeadLetterEntry) -> None:
    with pytest.raises(CannotCopy, match="payload store"):
        as_pytest(letter)


def test_recorded_results_with_stored_payload_and_variables_come_out_the_same(
    valkyr: Valkyr,
) -> None:
    run = valkyr.start(READS, LARGE).assert_state("SUCCESS")

    assert run.output == "c1 20002"
    found = verify(run.id)
    assert (found.differences, found.complete) == ([], True)


def test_a_backtest_reads_stored_payload_and_variables(valkyr: Valkyr, store: Path) -> None:
    run = valkyr.start(READS, LARGE).assert_state("SUCCESS")
    before = sorted(store.rglob("*-*"))

    made = compared(run)
    draft = load_text(READS, content_type="yaml")
    draft["output"] = "{{ input.text | length }}"
    other = compared(run, draft)

    assert (made.state, made.counts) == ("DONE", {"SAME": 1}), (made.error, texts(made))
    assert other.counts != {"SAME": 1}
    assert sorted(store.rglob("*-*")) == before


def with_schema(workflow: Workflow, most: int) -> Workflow:
    """Publish another version, whose input schema allows texts of `most` characters."""
    definition = load_text(WAITS, content_type="yaml")
    definition["input"] = {
        "type": "object", "properties": {"text": {"type": "string", "maxLength": most}},
    }  # fmt: skip
    versioning.update_workflow(
        workflow.pk, {"definition": definition}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    workflow.refresh_from_db()
    return workflow


def test_a_moved_executions_stored_payload_is_checked_against_the_new_schema(
    valkyr: Valkyr,
) -> None:
    run = valkyr.start(WAITS, LARGE)
    workflow, source = run.execution.workflow, run.execution.version_id
    strict = VersionMove(source, with_schema(workflow, 10_000).latest_version_id)
    loose = VersionMove(source, with_schema(workflow, 30_000).latest_version_id)

    with pytest.raises(CannotMove, match="does not match the input schema"):
        move_execution(run.id, strict, actor=ACTOR)
    move_execution(run.id, loose, actor=ACTOR)

    run.approve("wait")
    assert run.output == "c1"


def test_a_missing_payload_is_named(valkyr: Valkyr, store: Path) -> None:
    run = valkyr.start(WAITS, LARGE)
    move = VersionMove(
        run.execution.version_id, with_schema(run.execution.workflow, 30_000).latest_version_id
    )
    [file] = [path for path in store.rglob("*") if path.is_file()]
    file.unlink()

    with pytest.raises(CannotMove, match="Its input cannot be read"):
        move_execution(run.id, move, actor=ACTOR)
