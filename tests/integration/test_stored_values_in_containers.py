"""Stored outputs inside maps, loops, sub-workflows and forks, and outputs that filters read."""

from datetime import timedelta
from pathlib import Path

import pytest

from executions.access.actor import Actor
from executions.errors import PayloadError
from executions.models import StoredPayload, WorkflowExecution
from executions.payload_store import collecting
from executions.payloads import STORED, dump
from executions.sealing import payload_keys
from runners.models import Run
from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun
from runners.waits.events import NobodyWaits
from tests.support.payload_store import TEXT, answer, use_store
from valkyr_plugins.timetravel.fork import fork

FETCH = '{id: fetch, use: http.request, with: {url: "https://bank.example/"}}'
MAP = """
schema: valkyr/1
name: pages
tasks:
  - id: each
    use: flow.map
    with: {items: [1, 2, 3]}
    body: {tasks: [FETCH]}
  - {id: last, use: flow.noop, after: each,
     with: {value: "{{ tasks.each.output | map(attribute='body.id') | map('length') | sum }}"}}
output: "{{ tasks.last.output }}"
""".replace("FETCH", FETCH)
NESTED = """
schema: valkyr/1
name: nested
tasks:
  - id: outer
    use: flow.map
    with: {items: [1, 2]}
    body:
      tasks:
        - {id: beside, use: flow.noop, with: {value: "{{ item }}"}}
        - id: inner
          use: flow.map
          with: {items: [1, 2]}
          body:
            tasks:
              - FETCH
              - {id: other, use: flow.noop, with: {value: "{{ item }}"}}
  - {id: last, use: flow.noop, after: outer,
     with: {value: "{{ tasks.outer.output[1].inner[1].fetch.body.id | length }}"}}
output: "{{ tasks.last.output }}"
""".replace("FETCH", FETCH)
LOOP = """
schema: valkyr/1
name: looping
tasks:
  - id: again
    use: flow.loop
    with: {count: 3}
    body:
      tasks:
        - FETCH
        - {id: seen, use: flow.noop, after: fetch, with: {value: "{{
            (loop.previous.fetch.body.id | length) if loop.previous else 0 }}"}}
  - {id: last, use: flow.noop, after: again,
     with: {value: "{{ tasks.again.output.last.fetch.body.id | length }}"}}
output: "{{ [tasks.last.output, tasks.again.output.last.seen] }}"
""".replace("FETCH", FETCH)
UNTIL = """
schema: valkyr/1
name: until
tasks:
  - id: again
    use: flow.loop
    with: {until: "{{ tasks.fetch.output | length == 6 }}", maxIterations: 3}
    body: {tasks: [FETCH]}
output: "{{ tasks.again.output.iterations }}"
""".replace("FETCH", FETCH)
CHILD = """
schema: valkyr/1
name: child
tasks: [FETCH]
output: "{{ tasks.fetch.output }}"
""".replace("FETCH", FETCH)
PARENT = """
schema: valkyr/1
name: parent
tasks:
  - {id: call, use: flow.subworkflow, with: {workflow: child}}
  - {id: last, use: flow.noop, after: call,
     with: {value: "{{ tasks.call.output.output.body.id | length }}"}}
output: "{{ tasks.last.output }}"
"""
WAITING = """
schema: valkyr/1
name: waiting
tasks:
  - FETCH
  - {id: wait, use: flow.wait_for_event, after: fetch, with: {
      event: "paid-{{ tasks.fetch.output.body.id | length }}", filter: "{{ FILTER }}"}}
output: "{{ tasks.wait.output.name }}"
""".replace("FETCH", FETCH)


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db):
    payload_keys.forget()
    return Valkyr()


@pytest.mark.parametrize(
    ("definition", "output"),
    [(MAP, 60_000), (NESTED, 20_000), (LOOP, [20_000, 20_000])],
    ids=["map", "nested maps", "loop"],
)
def test_steps_read_what_a_container_collected(valkyr, store, definition, output):
    run = valkyr.start(definition, {}, answers={"http.request": answer()})

    run.assert_state("SUCCESS")
    assert run.output == output
    assert not Run.objects.filter(execution_id=run.id, outputs__icontains=TEXT).exists()


def test_the_output_of_a_map_keeps_the_references_as_the_workflows_output(valkyr, store):
    definition = MAP.replace("{{ tasks.last.output }}", "{{ tasks.each.output }}")

    run = valkyr.start(definition, {}, answers={"http.request": answer()}).assert_state("SUCCESS")

    assert [item["bytes"] for item in run.output] == [20_091] * 3


def test_a_condition_that_reads_a_stored_output_fails_with_a_message(valkyr, store):
    run = valkyr.start(UNTIL, {}, answers={"http.request": answer()})

    run.assert_state("FAILED")
    assert "the output of fetch contains a value in object storage" in run.execution.error_message


def test_a_filter_that_reads_a_stored_output_does_not_match_and_says_why(valkyr, store):
    definition = WAITING.replace("FILTER", "tasks.fetch.output | length == 6")
    run = valkyr.start(definition, {}, answers={"http.request": answer()})

    with pytest.raises(NobodyWaits):
        run.signal("paid-20000", {})

    [log] = Run.objects.get(execution_id=run.id, step_path="wait.main").logs
    assert "the output of fetch contains a value in object storage" in log["message"]


def test_a_filter_that_reads_the_event_needs_no_store(valkyr, store):
    definition = WAITING.replace("FILTER", "event.paid")
    run = valkyr.start(definition, {}, answers={"http.request": answer()})
    store.rename(store.with_name("away"))

    run.signal("paid-20000", {"paid": True})

    run.assert_state("SUCCESS")


def test_a_parent_reads_a_childs_stored_output_also_after_the_child(valkyr, store):
    valkyr.publish(CHILD)

    run = valkyr.start(PARENT, {}, answers={"http.request": answer()})

    run.assert_state("SUCCESS")
    assert run.output == 20_000
    child = WorkflowExecution.objects.get(parent_id=run.id)
    Run.objects.filter(execution_id=child.pk).delete()
    child.delete()
    assert collecting.collect(grace=timedelta(0)).deleted == 0
    Run.objects.filter(execution_id=run.id).delete()
    WorkflowExecution.objects.filter(pk=run.id).delete()
    assert collecting.collect(grace=timedelta(0)).deleted == 1


def test_a_fork_keeps_the_stored_values_that_it_copied(valkyr, store):
    run = valkyr.start(MAP, {}, answers={"http.request": answer()}).assert_state("SUCCESS")

    made = fork(run.id, step_path="last.main", actor=Actor.system("a test"))
    WorkflowExecution.objects.filter(pk=made.pk).update(origin=None)
    Run.objects.filter(execution_id=run.id).delete()
    WorkflowExecution.objects.filter(pk=run.id).delete()
    assert collecting.collect(grace=timedelta(0)).deleted == 0

    forked = WorkflowRun(made.pk, {"http.request": answer()}).carry().assert_state("SUCCESS")
    assert forked.output == 60_000
    assert StoredPayload.objects.count() == 1


@pytest.mark.parametrize("value", [{STORED: "1"}, {"a": [{"b": {"c": [{STORED: "1"}]}}]}])
def test_a_payload_cannot_pretend_to_be_a_reference_at_any_depth(value):
    with pytest.raises(PayloadError, match="reserved for references"):
        dump(value)
