"""`tasks.<id>.callbackUrl` is known before the task starts, for tasks that wait for a callback."""

from uuid import UUID

import pytest

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.resolve import resolve
from executions.definition.graph.validation import problems
from tests.unit.graph.catalog import definition, noop, spec
from tests.unit.graph.containers import CONTAINERS, each, reads

OUTCOMES = ("success", "timeout")
CATALOG = CONTAINERS | {
    "flow.callback": spec("flow.callback", inline=False, outcomes=OUTCOMES, waits=True),
    "flow.wait_for_event": spec(
        "flow.wait_for_event", inline=False, outcomes=OUTCOMES, waits=True, deferred=("filter",)
    ),
}
URL = "{{ tasks.wait.callbackUrl }}"


def wait(after="", **more):
    return {"id": "wait", "use": "flow.callback"} | ({"after": after} if after else {}) | more


def codes(*tasks, **more):
    return [problem.code for problem in problems(definition(tasks, **more), CATALOG)]


def step(path, *tasks):
    body = compile_graph(resolve(definition(tasks), CATALOG), UUID(int=1))
    return body.steps[body.by_path[path]]


def test_a_step_tells_the_address_of_a_task_that_comes_later():
    assert codes(reads("ask", URL), wait("ask")) == []
    assert codes(noop("other"), reads("ask", URL), wait("ask")) == []


def test_a_body_tells_the_address_of_its_own_task_and_of_one_around_it():
    assert codes(each("batch", reads("ask", URL), wait("ask"))) == []
    assert codes(each("batch", reads("ask", URL)), wait("batch")) == []


@pytest.mark.parametrize("name", ["ask", "later"])
def test_only_a_callback_has_an_address(name):
    asking = reads("ask", f"{{{{ tasks.{name}.callbackUrl }}}}")
    assert codes(asking, noop("later", after="ask")) == ["no_callback"]


def test_the_whole_task_is_not_known_before_it_is_done():
    assert codes(reads("ask", "{{ tasks.wait.output }}"), wait("ask")) == ["task_not_before"]


def test_the_workflows_output_and_a_filter_read_no_address():
    assert codes(wait(), output=URL) == ["no_callback"]
    listening = {
        "id": "listen",
        "use": "flow.wait_for_event",
        "with": {"event": "x", "filter": "{{ event.url == tasks.wait.callbackUrl }}"},
    }
    assert codes(listening, wait()) == ["no_callback"]


def test_an_address_is_read_without_looking_for_a_result():
    asking = step("ask.main", reads("ask", URL), wait("ask"))
    assert (asking.reads, asking.callbacks) == (frozenset(), {(0, 1)})


def test_what_a_filter_reads_is_known_to_its_step():
    listening = {
        "id": "listen",
        "use": "flow.wait_for_event",
        "after": "first",
        "with": {"event": "x", "filter": "{{ event.id == tasks.first.output and input.x }}"},
    }
    found = step("listen.main", noop("first"), listening)
    assert (found.reads, found.reads_input) == (frozenset({0}), True)
    assert set(found.deferred) == {"filter"}
