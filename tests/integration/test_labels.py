"""Labels of executions are rendered at each start, kept by repeats, and never a reason to reject a
start.
"""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dlq.retention.executions import BELONGINGS
from executions.access.actor import Actor
from executions.definition.graph.validation import problems
from executions.labels import finding, ranges
from executions.labels.finding import LabelQuery, newest
from executions.labels.naming import BadLabel, in_search, parsed
from executions.labels.ranges import HIGHEST
from executions.models import Activity, ExecutionLabel, Workflow, WorkflowExecution
from executions.triggers.request import ParentRun
from executions.triggers.start import owe_execution, start_batch, start_child, start_execution
from tests.support.workflows import publish, task
from tests.unit.graph.catalog import CATALOG
from valkyr_plugins.timetravel.fork import fork, replay

pytestmark = pytest.mark.django_db
ACTOR = Actor(None, "a test")
LABELS = {"order": "{{ input.order }}", "country": "{{ input.country }}", "team": "billing"}


@pytest.fixture
def workflow() -> Workflow:
    return publish({"labels": LABELS, "tasks": [task("begin")]})


def rows_of(execution: WorkflowExecution) -> dict[str, str]:
    """Return the labels of an execution as lists find them."""
    return dict(execution.label_rows.values_list("name", "value"))


def labels_of(execution: WorkflowExecution) -> Any:
    """Return the labels of an execution as its page shows them."""
    return WorkflowExecution.objects.get(pk=execution.pk).labels


def one(workflow: Workflow) -> WorkflowExecution:
    return start_execution(workflow, {"order": 7, "country": "DE"}, actor=ACTOR).execution


def child(workflow: Workflow) -> WorkflowExecution:
    parent = ParentRun(one(workflow).pk, 0, "MANUAL", 5, run_id=uuid4())
    payload = {"order": 7, "country": "DE"}
    return start_child(workflow, payload, parent=parent, key="c", actor=ACTOR)


def owed(workflow: Workflow) -> WorkflowExecution:
    payload = {"order": 7, "country": "DE"}
    return owe_execution(
        workflow, payload, actor=ACTOR, failure_of=one(workflow), key="o", reason="it"
    )


def batch(workflow: Workflow) -> WorkflowExecution:
    payloads = [{"order": n, "country": "DE"} for n in (7, 8, 9)]
    return start_batch(workflow, payloads, actor=ACTOR)[0]


@pytest.mark.parametrize("start", [one, child, owed, batch])
def test_each_start_renders_the_labels(
    workflow: Workflow, start: Callable[[Workflow], WorkflowExecution]
) -> None:
    execution = start(workflow)
    wanted = {"order": "7", "country": "DE", "team": "billing"}
    assert rows_of(execution) == wanted
    assert labels_of(execution) == wanted


@pytest.mark.parametrize("again", [replay, fork])
def test_a_repeat_keeps_the_labels_of_its_origin(workflow: Workflow, again: Any) -> None:
    origin = one(workflow)
    WorkflowExecution.objects.filter(pk=origin.pk).update(labels={"order": "kept"})
    assert rows_of(again(origin.pk, actor=ACTOR)) == {"order": "kept"}


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"country": "DE", "order": [1]}, "list or an object"),
        ({"country": "DE", "order": "x" * 201}, "201 characters"),
    ],
)
def test_a_label_that_cannot_be_rendered_is_left_out_and_recorded(
    workflow: Workflow, given: Any, part: str
) -> None:
    execution = start_execution(workflow, given, actor=ACTOR).execution
    assert rows_of(execution) == {"country": "DE", "team": "billing"}
    details = Activity.objects.get(object_id=execution.pk, action="execution.start").details
    assert part in details["labelsLeftOut"]["order"]


def test_a_template_that_fails_costs_no_start() -> None:
    labels = {
        "bad": "{{ input.n / 0 }}",
        "none": "{{ input.no.such }}",
        "n": "{{ input.n }}",
    }
    workflow = publish({"labels": labels, "tasks": [task("begin")]})
    execution = start_execution(workflow, {"n": 1.5}, actor=ACTOR).execution
    assert rows_of(execution) == {"n": "1.5"}


def test_labels_need_no_statement_of_their_own(workflow: Workflow) -> None:
    plain = publish({"tasks": [task("begin")]})
    counts = []
    for started in (plain, workflow):
        start_execution(started, {"order": 1, "country": "DE"}, actor=ACTOR)
        with CaptureQueriesContext(connection) as captured:
            start_execution(started, {"order": 1, "country": "DE"}, actor=ACTOR)
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert not ExecutionLabel.objects.filter(workflow=plain).exists()


def test_the_labels_follow_the_state(workflow: Workflow) -> None:
    execution = one(workflow)
    assert set(execution.label_rows.values_list("state", flat=True)) == {"RUNNING"}
    WorkflowExecution.objects.filter(pk=execution.pk).update(
        state="FAILED", finished_at=timezone.now()
    )
    assert set(execution.label_rows.values_list("state", flat=True)) == {"FAILED"}


def test_retention_deletes_labels_in_one_statement() -> None:
    assert ExecutionLabel in BELONGINGS


def test_the_newest_with_labels_are_found_in_order(workflow: Workflow) -> None:
    payloads = [{"order": n % 5, "country": "DE" if n % 2 else "FR"} for n in range(40)]
    started = start_batch(workflow, payloads, actor=ACTOR)
    rows, workflows = WorkflowExecution.objects.all(), Workflow.objects.all()
    wanted = [e.pk for e, p in zip(started, payloads, strict=True) if p["order"] == 3]
    query = LabelQuery({"order": "3"}, workflows)
    assert newest(rows, query, 100).ids == sorted(wanted, reverse=True)
    page = newest(rows, query, 3)
    assert page.ids == sorted(wanted, reverse=True)[:3]
    following = LabelQuery({"order": "3"}, workflows, below=page.reached or HIGHEST)
    assert newest(rows, following, 100).ids == sorted(wanted, reverse=True)[3:]
    oldest = LabelQuery({"order": "3"}, workflows, ascending=True)
    assert newest(rows, oldest, 2).ids == sorted(wanted)[:2]
    both = LabelQuery({"order": "3", "country": "FR"}, workflows)
    assert len(newest(rows, both, 100).ids) == 4
    assert newest(rows, LabelQuery({"order": "3"}, workflows, states=["FAILED"]), 9).ids == []
    assert newest(rows, LabelQuery({"order": "3"}, Workflow.objects.none()), 9).ids == []


def test_a_search_that_takes_too_long_says_where_to_continue(
    workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "FIRST_PART", 2)
    monkeypatch.setattr(ranges, "LARGEST_PART", 2)
    monkeypatch.setattr(ranges, "LEAST", 1)
    monkeypatch.setattr(finding, "SECONDS", 0.0)
    started = start_batch(workflow, [{"order": 1, "country": "DE"}] * 6, actor=ACTOR)
    rows = WorkflowExecution.objects.filter(pk=started[0].pk)
    found, below, turns = [], HIGHEST, 0
    while True:
        query = LabelQuery({"order": "1"}, Workflow.objects.all(), below=below)
        part = newest(rows, query, 1)
        found += part.ids
        turns += 1
        if part.reached is None or found:
            break
        below = part.reached
    assert found == [started[0].pk]
    assert turns > 1


def test_a_definition_with_bad_labels_is_rejected_with_the_reasons() -> None:
    labels = {"Order": "x", "a": 1, "b": "{{ vars.x }}", "c": "{{ input. }}", "d" * 41: "x"}
    labels |= {f"n{n}": "x" for n in range(9)}
    document = {"schema": "valkyr/1", "name": "n", "labels": labels, "tasks": [task("begin")]}
    found = {(one.path, one.code) for one in problems(document, CATALOG)}
    assert ("labels", "value") in found
    assert ("labels.Order", "bad_name") in found
    assert ("labels.a", "type") in found
    assert ("labels.b", "input_only") in found
    assert any(path == "labels.c" for path, _ in found)
    assert (f"labels.{'d' * 41}", "value") in found


@pytest.mark.parametrize("text", ["order", "order:", ":7", "Order:7", "o r:7", "o:" + "x" * 201])
def test_a_text_that_is_not_a_label_is_rejected_with_the_reason(text: str) -> None:
    with pytest.raises(BadLabel):
        parsed(text)


def test_labels_are_words_of_a_search() -> None:
    found = in_search('import order:7 customer:"ACME Ltd" url:http://x:1/')
    assert found == ({"order": "7", "customer": "ACME Ltd", "url": "http://x:1/"}, "import")
    assert in_search("Error: no such file") == ({}, "Error: no such file")
