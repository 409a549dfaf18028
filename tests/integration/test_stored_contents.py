"""Stored content is written by one step of a workflow, passed to others by reference, read, and
deleted.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from executions.models import StoredPayload, StoredPayloadUse, WorkflowExecution
from executions.payload_store import collecting, reading
from executions.payloads import STORED
from executions.sealing import payload_keys
from runners.models import Run
from runners.modules import registry
from runners.public.modules import StepContext, StoredContent, step
from runners.testing.harness import Valkyr
from tests.support.payload_store import use_store

LINES = 3_000
SIZE = sum(len(f"line {number}\n") for number in range(LINES))


@step("test.writes_lines")
def writes(ctx: StepContext, lines: int, fails: bool = False) -> dict:
    """Store lines, and fail half-way if requested."""

    def parts():
        for number in range(lines):
            if fails and number == lines // 2:
                raise ValueError("the source broke")
            yield b"line %d\n" % number

    return {"lines": lines, "text": ctx.store_content(parts(), media_type="text/plain")}


@step("test.counts_lines")
def counts(ctx: StepContext, text: StoredContent) -> dict:
    """Count lines, and pass the stored content on."""
    with ctx.open_content(text) as file:
        return {"count": sum(1 for _ in file), "text": text}


@step("test.takes_anything")
def takes(value: object) -> dict:
    """Return the given value."""
    return {"value": value}


FLOW = """
schema: valkyr/1
name: lines
tasks:
  - {id: write, use: test.writes_lines, with: {lines: 3000}}
  - {id: count, use: test.counts_lines, after: write,
     with: {text: "{{ tasks.write.output.text }}"}}
  - {id: again, use: test.counts_lines, after: count,
     with: {text: "{{ tasks.count.output.text }}"}}
output:
  count: "{{ tasks.again.output.count }}"
  text: "{{ tasks.again.output.text }}"
  size: "{{ tasks.write.output.text.bytes }}"
"""
ONE = """
schema: valkyr/1
name: one
tasks:
  - {id: write, use: test.writes_lines, with: {lines: 3000, fails: "{{ input.fails }}"}}
  - {id: take, use: test.takes_anything, after: write, with: {value: "{{ VALUE }}"}}
"""


@pytest.fixture(autouse=True)
def modules():
    for one in (writes, counts, takes):
        if one.type not in registry.specs():
            registry.add(one.__valkyr_module__)


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db):
    payload_keys.forget()
    return Valkyr()


def files_in(store: Path) -> list[Path]:
    return [path for path in store.rglob("*") if path.is_file()]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_content_is_passed_on_by_reference(valkyr, store, sealed):
    if sealed:
        payload_keys.make(valkyr.workspace.pk)

    run = valkyr.start(FLOW, {})

    run.assert_state("SUCCESS")
    output = WorkflowExecution.objects.get(pk=run.execution.pk).output
    [file] = files_in(store)
    assert output["count"] == LINES
    assert output["size"] == output["text"]["bytes"] == StoredPayload.objects.get().size == SIZE
    assert output["text"][STORED] in file.name
    assert output["text"]["preview"].startswith("line 0\nline 1\n")
    assert (b"line 17" in file.read_bytes()) is not sealed
    with reading.opened(valkyr.workspace.pk, output["text"]) as content:
        assert content.read().count(b"\n") == LINES


def test_a_step_that_takes_no_content_rejects_one(valkyr, store):
    run = valkyr.start(ONE.replace("VALUE", "tasks.write.output.text"), {"fails": False})

    last = Run.objects.get(execution_id=run.execution.pk, step_path="take.main")
    assert "with.value refers to stored content" in last.error
    assert last.error_type == "PERMANENT"


def test_a_template_reads_the_facts_of_a_content(valkyr, store):
    run = valkyr.start(ONE.replace("VALUE", "tasks.write.output.text.bytes"), {"fails": False})

    run.assert_state("SUCCESS")
    assert Run.objects.get(step_path="take.main").outputs == {"value": SIZE}


def test_a_content_whose_source_breaks_leaves_no_file(valkyr, store):
    run = valkyr.start(ONE.replace("VALUE", "1"), {"fails": True})

    failed = Run.objects.get(execution_id=run.execution.pk, step_path="write.main")
    assert "the source broke" in failed.error
    assert not files_in(store)
    assert not StoredPayloadUse.objects.exists()
    assert collecting.collect(grace=timedelta(0)).deleted == 1


def test_a_content_above_the_limit_fails_its_step(valkyr, store, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_CONTENT_LIMIT": 1_048_576}

    run = valkyr.start(ONE.replace("VALUE", "1").replace("3000", "200000"), {"fails": False})

    failed = Run.objects.get(execution_id=run.execution.pk, step_path="write.main")
    assert "VALKYR_PAYLOAD_CONTENT_LIMIT" in failed.error
    assert not files_in(store)


def test_without_a_store_a_step_cannot_store_a_content(valkyr):
    run = valkyr.start(ONE.replace("VALUE", "1"), {"fails": False})

    failed = Run.objects.get(execution_id=run.execution.pk, step_path="write.main")
    assert "VALKYR_PAYLOAD_STORE" in failed.error


def test_a_reference_that_a_user_writes_is_rejected(valkyr, store):
    first = valkyr.start(FLOW, {})
    reference = WorkflowExecution.objects.get(pk=first.execution.pk).output["text"]

    with pytest.raises(Exception, match="reserved for references"):
        valkyr.start(FLOW, {"text": reference})


def test_contents_are_deleted_with_their_executions(valkyr, store):
    run = valkyr.start(FLOW, {})
    assert collecting.collect(grace=timedelta(0)).deleted == 0

    Run.objects.filter(execution_id=run.execution.pk).delete()
    WorkflowExecution.objects.filter(pk=run.execution.pk).delete()

    assert collecting.collect(grace=timedelta(0)).deleted == 1
    assert not files_in(store)
