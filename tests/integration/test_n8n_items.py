"""Multiple items in workflows imported from n8n give n8n's results."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from executions import payloads
from executions.models import WorkflowExecution
from tests.plugins.n8n.exports import converted, export, node
from tests.support.engine_database import engine_database
from tests.support.single_thread import World, world
from tests.support.workflows import publish, start

TEAS = [
    {"name": "sencha", "price": 9},
    {"name": "assam", "price": 4},
    {"name": "gyokuro", "price": 20},
]
DEAR = {
    "conditions": {
        "combinator": "and",
        "conditions": [
            {
                "leftValue": "={{ $json.price }}",
                "rightValue": 5,
                "operator": {"type": "number", "operation": "gt"},
            }
        ],
    }
}
GATHER = {"fieldsToAggregate": {"fieldToAggregate": [{"fieldToAggregate": "label"}]}}
LABEL = {
    "assignments": {
        "assignments": [
            {"name": "label", "type": "string", "value": "={{ $json.name.toUpperCase() }}!"}
        ]
    }
}
LIST = node("List", "splitOut", {"fieldToSplitOut": "teas"}, 1)
SET = node("Label", "set", LABEL, 3.4)
ALL = node("Gather", "aggregate", GATHER, 1)
BEGIN = node("Begin", "manualTrigger")


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


def run(queue: World, document: Any) -> Any:
    """Run an export's workflow; return the value that `Gather` passes on."""
    definition = converted(document).definition | {"output": "{{ tasks.gather.output }}"}
    pk = start(publish(definition), {"teas": TEAS})
    queue.drain()
    execution = WorkflowExecution.objects.get(pk=pk)
    assert execution.state == "SUCCESS", execution.error_message
    return (
        payloads.load(execution.output) if isinstance(execution.output, bytes) else execution.output
    )


def test_items_are_filtered_and_changed_one_by_one_and_gathered(queue: World) -> None:
    dear = node("Dear?", "filter", DEAR, 2.2)
    links = [
        ("Begin", 0, "List"),
        ("List", 0, "Dear?"),
        ("Dear?", 0, "Label"),
        ("Label", 0, "Gather"),
    ]

    found = run(queue, export(BEGIN, LIST, dear, SET, ALL, links=links))

    assert found == {"label": ["SENCHA!", "GYOKURO!"]}


def test_a_loop_over_items_hands_on_what_its_body_came_to(queue: World) -> None:
    loop = node("Loop", "splitInBatches", {}, 3)
    links = [("Begin", 0, "List"), ("List", 0, "Loop"), ("Loop", 1, "Label"),
             ("Label", 0, "Loop"), ("Loop", 0, "Gather")]  # fmt: skip

    found = run(queue, export(BEGIN, LIST, loop, SET, ALL, links=links))

    assert found == {"label": ["SENCHA!", "ASSAM!", "GYOKURO!"]}


def test_what_two_branches_append_is_gathered_from_both(queue: World) -> None:
    merge = node("Merge", "merge", {}, 3)
    other = node("Other", "set", LABEL | {"include": "none"}, 3.4)
    links = [("Begin", 0, "List"), ("List", 0, "Label"), ("Label", 0, "Merge", 0),
             ("List", 0, "Other"), ("Other", 0, "Merge", 1), ("Merge", 0, "Gather")]  # fmt: skip

    found = run(queue, export(BEGIN, LIST, SET, other, merge, ALL, links=links))

    assert sorted(found["label"]) == sorted(["SENCHA!", "ASSAM!", "GYOKURO!"] * 2)
