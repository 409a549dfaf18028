"""A workflow's function becomes a document; code that a graph cannot express is rejected with its
position.
"""

from collections.abc import Callable
from typing import Any

import pytest

import valkyr
from executions.definition.graph.document import normalise
from executions.publishing.versioning import check
from tests.plugins.python_workflows import flows
from valkyr import TracingError, each, step, workflow
from valkyr_plugins.python_workflows import discovery, names
from valkyr_plugins.python_workflows.workflow import DECLARED, PythonWorkflow


def edges(definition: dict[str, Any]) -> set[tuple[str, str, str]]:
    found = normalise(definition)
    return {(edge["from"], edge["to"], edge.get("on", "success")) for edge in found["edges"]}


@pytest.mark.parametrize(
    "traced",
    [flows.fulfil, flows.careful, flows.sorted_by_country, flows.patient],
    ids=lambda one: one.slug,
)
def test_what_is_traced_can_be_published(traced: Any) -> None:
    assert check(traced.definition) == []


def test_what_a_step_takes_decides_what_it_comes_after() -> None:
    definition = flows.fulfil.definition
    tasks = {task["id"]: task for task in definition["tasks"]}

    assert tasks["paid"]["with"]["cents"] == "{{ input.total * 100 }}"
    assert tasks["paid"]["undo"]["with"] == {"order": "{{ input.id }}"}
    assert tasks["parcels"]["with"]["maxConcurrency"] == 10
    assert tasks["ship"]["with"]["receipt"] == "{{ tasks.paid.output.number }}"
    assert ("when", "approve", "true") in edges(definition)
    assert ("when", "ship", "false") in edges(definition)
    assert definition["output"] == "{{ tasks.ship.output }}"


def test_tracing_again_makes_the_same_document() -> None:
    again = PythonWorkflow(flows.fulfil.function, {"name": "fulfil"})
    DECLARED.remove(again)

    assert again.definition == flows.fulfil.definition


def test_outside_of_a_trace_a_step_is_just_its_function() -> None:
    assert flows.charge(7, 12.0) == flows.Receipt(number="r7", cents=12)


def decided(order: flows.Order) -> None:
    if order.total > 3:
        flows.note("much")


def iterated(order: flows.Order) -> None:
    for line in order.lines:
        flows.pack(line)


def counted(order: flows.Order) -> None:
    flows.note(str(len(order.lines)))


def made_a_number(order: flows.Order) -> None:
    flows.note("x" * int(order.total))


def empty(order: flows.Order) -> None:
    """Call nothing."""


def wrong_argument(order: flows.Order) -> None:
    flows.pack(1, row=1)  # type: ignore[call-arg]


def empty_body(order: flows.Order) -> None:
    each(order.lines, lambda line: line)


def compared_with_a_handle_in_a_text(order: flows.Order) -> None:
    with valkyr.when(order.id == f"no {order.total}"):
        flows.note("same")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (decided, "with when"),
        (compared_with_a_handle_in_a_text, r"handle in it.*found 'no \{\{"),
        (iterated, "each"),
        (counted, "length"),
        (made_a_number, "int"),
        (empty, "calls no step"),
        (wrong_argument, "row"),
        (empty_body, "each"),
    ],
)
def test_what_cannot_be_traced_names_its_place_and_what_to_write(
    function: Callable[..., Any], says: str
) -> None:
    with pytest.raises(TracingError, match=says) as raised:
        workflow(function)

    assert "test_tracing.py" in str(raised.value)


def test_two_steps_of_one_type_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = [step("twice.taken")(nothing), step("twice.taken")(nothing)]
    monkeypatch.setattr(discovery, "DECORATED", twice)

    with pytest.raises(ValueError, match=r"twice\.taken.*already used"):
        discovery.register_steps()


def nothing() -> None:
    """Do nothing."""


def test_every_name_of_workflows_in_python_is_one_of_valkyrs() -> None:
    assert set(names.__all__) <= set(valkyr.__all__)
    assert all(hasattr(valkyr, name) for name in valkyr.__all__)


def test_labels_are_templates_or_functions_of_the_input() -> None:
    @step
    def look(order: int) -> None: ...

    @workflow("labelled", labels={"order": lambda order: f"{order}", "team": "billing"})
    def labelled(order: int, country: str) -> None:
        look(order)

    assert labelled.definition["labels"] == {"order": "{{ input.order }}", "team": "billing"}
    # The step is local to this test, so it is not a module.
    assert {one.code for one in check(labelled.definition)} == {"unknown_module"}
