"""Measured workflows as the body of a loop and of a map validate, resolve and compile."""

from uuid import UUID

import pytest

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.resolve import resolve
from executions.definition.graph.validation import problems
from tests.support.real_graphs import NAMES, real_graph
from tests.unit.graph.containers import CONTAINERS

WORKFLOW = UUID("0190aaaa-0000-7000-8000-000000000000")
CONTAINER_CONFIGS = [
    ("flow.loop", {"count": 2}),
    ("flow.loop", {"until": "{{ loop.iteration >= 3 }}"}),
    ("flow.map", {"items": "{{ tasks.start.output }}", "onItemError": "continue"}),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("use", "config"), CONTAINER_CONFIGS)
def test_a_measured_workflow_can_be_the_body_of_a_container(name, use, config):
    measured = real_graph(name)
    start = {"id": "start", "use": "flow.noop", "with": {"value": [1, 2]}}
    around = {"id": "around", "use": use, "with": config, "after": "start"}
    around["body"] = {"tasks": measured["tasks"]}
    document = {"schema": "valkyr/1", "name": name, "tasks": [start, around]}

    assert problems(document, CONTAINERS) == []
    graph = compile_graph(resolve(document, CONTAINERS), WORKFLOW)
    alone = compile_graph(resolve(measured, CONTAINERS), WORKFLOW)

    body = graph.tasks[1].body
    assert [task.id for task in body.tasks] == [task.id for task in alone.tasks]
    assert [task.incoming for task in body.tasks] == [task.incoming for task in alone.tasks]
    assert body.order == alone.order
    assert graph.order == (0, 1)
    assert {step.task_uuid for step in body.steps}.isdisjoint(
        step.task_uuid for step in alone.steps
    )
