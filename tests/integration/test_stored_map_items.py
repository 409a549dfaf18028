"""Large items of maps and large inputs of loops in the payload store."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from pydantic import Field

from executions.models import StoredPayload, WorkflowExecution
from executions.payload_store import StoredValueBroken, blocks, collecting, files, reading
from executions.payloads import STORED, dump
from executions.sealing import payload_keys
from runners import statements
from runners.models import Run
from runners.modules.base import ModuleInputs
from runners.modules.containers import Loop
from runners.testing.harness import ACTOR, Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.plugins.backtest.comparing import compared, texts
from tests.support.payload_store import use_store
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.verify import verify

# 40 items of 20 KB: blocks of 14, 14 and 12 items.
ITEMS = [{"number": number, "text": f"{number:04}" * 5_000} for number in range(40)]
PAYLOAD = {"rows": ITEMS}
FETCH = '{id: fetch, use: http.request, with: {url: "https://b.example/{{ item.number }}"}}'
MAP = """
schema: valkyr/1
name: mapped
tasks:
  - id: each
    use: flow.map
    with: {items: "{{ input.rows }}", maxConcurrency: 3}
    body: {tasks: [BODY]}
  - {id: last, use: flow.noop, after: each, with: {value: "{{ tasks.each.output | length }}"}}
output: "{{ [tasks.each.output, tasks.last.output] }}"
"""
PURE = MAP.replace("BODY", '{id: take, use: flow.noop, with: {value: "{{ item.text[:4] }}"}}')
EFFECT = MAP.replace("BODY", FETCH).replace("[tasks.each.output, ", "[")
NESTED = MAP.replace(
    "BODY",
    """{id: inner, use: flow.map, with: {items: "{{ [item.number] }}"}, body: {tasks: [
        {id: take, use: flow.noop, with: {value: "{{ item }}"}}]}}""",
)
CONDITION = MAP.replace(
    "BODY",
    """{id: again, use: flow.loop, body: {tasks: [{id: take, use: flow.noop}]},
        with: {until: "{{ item.number + loop.index >= 0 }}", maxIterations: 2}}""",
)
WHOLE = MAP.replace("input.rows", "input").replace(
    "BODY", '{id: take, use: flow.noop, with: {value: "{{ item.number }}"}}'
)


LOOP = """
schema: valkyr/1
name: looping
tasks:
  - id: again
    use: test.counted
    with: {count: 2, text: "{{ input.rows[0].text }}"}
    body: {tasks: [{id: take, use: flow.noop, with: {value: "{{ loop.index }}"}}]}
output: "{{ tasks.again.output }}"
"""
WAITING = LOOP.replace("count: 2", "count: 1").replace(
    '{id: take, use: flow.noop, with: {value: "{{ loop.index }}"}}',
    "{id: take, use: flow.wait_for_event, with: {event: go}}",
)


class CountedInputs(ModuleInputs):
    """A number of iterations, and a text."""

    count: int = Field(description="The number of iterations.")
    text: str = Field(description="A text.")


class Counted(Loop):
    """A loop with a text, which its output measures."""

    type = "test.counted"
    title = "Counted"
    Inputs = CountedInputs
    deferred = ()
    example = {"count": 1, "text": "t"}
    bad_inputs = ()

    def more_problems(self, config):
        return []

    def collected(self, inputs, turns, last):
        return {"length": len(inputs["text"]), "iterations": turns, "last": last}


@pytest.fixture
def store(settings, tmp_path) -> Path:
    made = use_store(settings, tmp_path)
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_START_LIMIT": 20_000_000}
    return made


@pytest.fixture
def valkyr(transactional_db, store) -> Valkyr:
    payload_keys.forget()
    return Valkyr()


def answer(inputs, ctx):
    return {
        "status": 200, "headers": {}, "body": inputs.url, "bodyEncoding": "json", "url": "u",
        "durationMs": 1,
    }  # fmt: skip


def items_of(execution_id) -> dict:
    return Run.objects.get(execution_id=execution_id, step_path="each.main").inputs["items"]


def test_bodies_read_their_items_from_blocks_of_the_stored_list(valkyr):
    run = valkyr.start(PURE, PAYLOAD).assert_state("SUCCESS")

    assert run.output == [[f"{number:04}" for number in range(40)], 40]
    inputs = Run.objects.get(execution_id=run.id, step_path="each.main").inputs
    assert inputs["maxConcurrency"] == 3
    items = inputs["items"]
    assert (items["length"], items["type"]) == (40, "array")
    assert [count for count, *_ in items["blocks"]] == [14, 14, 12]
    assert len(items["preview"]) == 4
    assert reading.load(run.execution.workspace_id, items) == ITEMS


def test_steps_with_effects_and_nested_maps_read_stored_items(valkyr):
    run = valkyr.start(EFFECT, PAYLOAD, answers={"http.request": answer})
    nested = valkyr.start(NESTED, PAYLOAD).assert_state("SUCCESS")

    run.assert_state("SUCCESS")
    urls = Run.objects.filter(execution_id=run.id, step_path__startswith="each[")
    found = {one.outputs["body"] for one in urls}
    assert found == {f"https://b.example/{number}" for number in range(40)}
    assert nested.output[0] == [[number] for number in range(40)]


def test_a_body_reads_only_the_block_of_its_item(valkyr, store):
    run = valkyr.start(PURE, PAYLOAD)
    workspace, items = run.execution.workspace_id, items_of(run.id)
    file = change_byte(store, items, 100)

    found = blocks.items_at(workspace, items, [15, 27])

    assert found == {15: ITEMS[15], 27: ITEMS[27]}
    with pytest.raises(StoredValueBroken):
        blocks.items_at(workspace, items, [13, 15])
    file.write_bytes(file.read_bytes()[:400_000])
    with pytest.raises(StoredValueBroken):
        blocks.items_at(workspace, items, [15])


def change_byte(store: Path, reference: dict, position: int) -> Path:
    """Change a byte of a stored value; return its file."""
    [file] = store.rglob(f"*{reference[STORED]}")
    content = bytearray(file.read_bytes())
    content[position] ^= 1
    file.write_bytes(content)
    return file


def test_the_idempotency_key_of_a_map_does_not_depend_on_the_store(valkyr):
    run = valkyr.start(PURE, PAYLOAD)

    each = Run.objects.get(execution_id=run.id, step_path="each.main")
    given = {**each.inputs, "items": ITEMS}
    assert each.inputs_hash == sha256(dump(given).encode()).hexdigest()


def test_sealed_items_are_references_in_envelopes(valkyr, store):
    payload_keys.make(valkyr.workspace.pk)
    marked = {"rows": [{"text": f"m4rker{number:04}" * 2_000} for number in range(40)]}

    run = valkyr.start(PURE, marked).assert_state("SUCCESS")

    assert run.output[0] == ["m4rk"] * 40
    for path in store.rglob("*"):
        assert path.is_dir() or b"m4rker" not in path.read_bytes()
    [raw] = Run.objects.filter(execution_id=run.id, step_path="each.main").values_list(
        "inputs", flat=True
    )
    assert set(raw) == {"$sealed"}
    assert items_of(run.id)["key"]


def test_items_that_conditions_read_stay_in_the_row(valkyr):
    run = valkyr.start(CONDITION, PAYLOAD).assert_state("SUCCESS")

    assert items_of(run.id) == ITEMS


def test_items_above_the_load_limit_fail_with_both_sizes(valkyr, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 100_000}

    run = valkyr.start(WHOLE, ITEMS).assert_state("FAILED")

    assert "at most 100,000 are allowed" in run.execution.error_message


def test_a_small_load_limit_does_not_hide_items(valkyr, settings):
    run = valkyr.start(PURE, PAYLOAD)
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_LOAD_LIMIT": 100_000}

    found = blocks.items_at(run.execution.workspace_id, items_of(run.id), [0, 39])

    assert found == {0: ITEMS[0], 39: ITEMS[39]}


def test_a_list_that_is_passed_on_shares_the_file_of_its_origin(valkyr):
    run = valkyr.start(WHOLE, ITEMS).assert_state("SUCCESS")

    assert run.output[0] == list(range(40))
    assert items_of(run.id)[STORED] == run.execution.trigger_payload[STORED]
    assert StoredPayload.objects.count() == 1


def test_a_changed_block_is_a_permanent_failure(valkyr, store):
    run = valkyr.start(EFFECT, PAYLOAD, answers={"http.request": ValueError("no")})
    change_byte(store, items_of(run.id), 100)

    again = fork(run.id, step_path="each[0].fetch.main", actor=ACTOR)
    ended = WorkflowRun(again.pk, {"http.request": answer}).carry()

    failed = Run.objects.filter(execution_id=ended.id, error__contains="differs from its digest")
    assert {one.error_type for one in failed} == {"PERMANENT"}


@pytest.mark.parametrize("sealed", [False, True])
def test_a_changed_block_fails_a_batch_of_items(valkyr, store, sealed):
    if sealed:
        payload_keys.make(valkyr.workspace.pk)
    run = valkyr.start(PURE, PAYLOAD).assert_state("SUCCESS")
    again = fork(run.id, step_path="each[0].take.main", actor=ACTOR)
    change_byte(store, items_of(run.id), 600_000)  # not in the block of the first items

    ended = WorkflowRun(again.pk, {}).carry().assert_state("FAILED")

    dead = Run.objects.filter(execution_id=ended.id, state="DLQ", step_path__startswith="each[")
    assert {one.error_type for one in dead} == {"PERMANENT"}


def test_items_are_kept_for_a_fork_and_collected_with_the_last_execution(valkyr):
    run = valkyr.start(EFFECT, PAYLOAD, answers={"http.request": answer})
    made = fork(run.id, step_path="each[3].fetch.main", actor=ACTOR)
    forget(run.id)

    assert collecting.collect(grace=timedelta(0)).deleted == 0
    WorkflowRun(made.pk, {"http.request": answer}).carry().assert_state("SUCCESS")
    forget(made.pk)
    collecting.collect(grace=timedelta(0))
    assert not StoredPayload.objects.exists()


def forget(execution_id) -> None:
    WorkflowExecution.objects.update(origin=None, parent=None)
    Run.objects.filter(execution_id=execution_id).delete()
    WorkflowExecution.objects.filter(pk=execution_id).delete()


@pytest.mark.parametrize("sealed", [False, True])
def test_the_counters_of_a_map_with_stored_items_are_made_again_after_a_roll_back(valkyr, sealed):
    if sealed:
        payload_keys.make(valkyr.workspace.pk)
    run = valkyr.start(PURE, PAYLOAD)
    each = Run.objects.get(execution_id=run.id, step_path="each.main")

    [(_, given, total)] = statements.fetch(
        "container_inputs", {"execution": run.id, "run": each.pk}
    )

    assert (total or blocks.length_of(each.inputs["items"])) == 40
    assert "items" not in given


def test_recorded_results_with_stored_items_come_out_the_same(valkyr, store):
    run = valkyr.start(PURE, PAYLOAD).assert_state("SUCCESS")
    before = sorted(store.rglob("*-*"))

    found = verify(run.id)
    made = compared(run)

    assert (found.differences, found.complete) == ([], True)
    assert (made.state, made.counts) == ("DONE", {"SAME": 1}), (made.error, texts(made))
    assert sorted(store.rglob("*-*")) == before


def test_a_verification_reads_each_block_once(valkyr, monkeypatch):
    run = valkyr.start(PURE, PAYLOAD).assert_state("SUCCESS")
    ranges, read = [], files.read_range
    monkeypatch.setattr(files, "read_range", lambda *part: ranges.append(part) or read(*part))

    assert verify(run.id).differences == []

    assert len(ranges) == len(set(ranges)) == 3


def test_a_verification_reports_items_that_cannot_be_read(valkyr, store):
    run = valkyr.start(PURE, PAYLOAD).assert_state("SUCCESS")
    change_byte(store, items_of(run.id), 100)

    found = verify(run.id)

    assert any("differs from its digest" in str(one) for one in found.differences)


def test_a_loop_that_continues_without_its_store_names_the_setting(valkyr, settings):
    valkyr.install(Counted)
    run = valkyr.start(WAITING, PAYLOAD)
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_STORE": ""}

    run.signal("go").carry()

    error = Run.objects.get(execution_id=run.id, step_path="again.main").error
    assert "VALKYR_PAYLOAD_STORE is not set" in error


def test_a_large_input_of_a_loop_is_stored_and_the_others_stay_in_the_row(valkyr):
    valkyr.install(Counted)

    run = valkyr.start(LOOP, PAYLOAD).assert_state("SUCCESS")

    assert run.output == {"length": 20_000, "iterations": 2, "last": {"take": 1}}
    inputs = Run.objects.get(execution_id=run.id, step_path="again.main").inputs
    assert inputs["count"] == 2
    assert (inputs["text"]["type"], inputs["text"]["bytes"]) == ("string", 20_002)


def test_without_a_store_items_stay_in_the_row(valkyr, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_STORE": ""}

    run = valkyr.start(PURE, {"rows": ITEMS[:10]}).assert_state("SUCCESS")

    assert items_of(run.id) == ITEMS[:10]
