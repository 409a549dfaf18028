"""Publishing many workflows costs a constant number of statements and little CPU time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pydantic import BaseModel

import valkyr
from executions.models import Activity, Workflow, WorkflowVersion
from executions.public.publishing import CodeDefinition, publish_many_from_code
from tests.support.workflows import default_workspace
from valkyr_plugins.python_workflows.publishing import publish_all
from valkyr_plugins.python_workflows.workflow import DECLARED

pytestmark = pytest.mark.django_db
MANY = 200
MOST_CALLS, MOST_CALLS_TRACED = 22_000, 57_000  # function calls for each: twice the usual number


@pytest.fixture(autouse=True)
def _workspace(db: None) -> None:
    default_workspace()


@contextmanager
def counted() -> Iterator[list[int]]:
    """Count the functions that the block calls, which measures its work independently of the
    machine's load.
    """
    calls = [0]

    def count(frame: Any, event: str, argument: Any) -> None:
        if event.endswith("call"):
            calls[0] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def step(number: int) -> dict[str, Any]:
    before = f"s{number - 1}"
    after = {"after": before, "with": {"value": f"{{{{ tasks.{before}.output }}}}"}}
    return {"id": f"s{number}", "use": "flow.noop", **(after if number else {})}


def said(count: int, *, steps: int = 6, title: str = "W") -> list[CodeDefinition]:
    """Return definitions, each of a few steps with an event that starts it."""
    return [
        CodeDefinition(
            slug=f"w{number}",
            definition={
                "schema": "valkyr/1",
                "name": f"{title} {number}",
                "tasks": [step(one) for one in range(steps)],
                "triggers": [{"type": "EVENT", "event": f"e{number}"}],
            },
            origin=f"shop.flows:w{number}",
            line=number,
        )
        for number in range(count)
    ]


def queries_of(given: list[CodeDefinition]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        publish_many_from_code(given)
    return len(captured)


def test_two_hundred_workflows_are_published_for_little_cpu() -> None:
    given = said(MANY)
    publish_many_from_code(said(1, title="Warm"))

    with counted() as calls:
        made = publish_many_from_code(given)

    assert calls[0] < MOST_CALLS * MANY
    assert sum(one.created for one in made.values()) == MANY
    assert Workflow.objects.filter(latest_version__isnull=False).count() == MANY
    assert WorkflowVersion.objects.count() == MANY + 1
    assert Activity.objects.filter(action="workflow.publish").count() == MANY + 1


WRITTEN = """
@workflow("traced-{n}", event="e{n}")
def traced_{n}(order: Order) -> str:
    paid = modules.data.set(values={{"id": order.id, "cents": order.total * 100}})
    parcels = each(order.lines, lambda line: modules.data.template(text=f"pack {{line}}").text)
    with when(order.total > 1000):
        approve(f"Ship for {{order.total}}?", within="2d")
    shipped = modules.data.template(text=f"{{paid.id}} {{paid.cents}} {{parcels[0]}}")
    return shipped.text
"""


class Order(BaseModel):
    """The cost of each definition."""

    id: int
    total: float
    lines: list[int] = []


@pytest.fixture
def _forgotten() -> Iterator[None]:
    before = list(DECLARED)
    yield
    DECLARED[:] = before


@pytest.mark.usefixtures("_forgotten")
def test_two_hundred_functions_are_traced_and_published_for_little_cpu() -> None:
    names = {"Order": Order, "__name__": "shop.workflows"} | {
        name: getattr(valkyr, name) for name in ("approve", "each", "modules", "when", "workflow")
    }
    source = compile("".join(WRITTEN.format(n=n) for n in range(MANY)), "workflows.py", "exec")
    publish_many_from_code(said(1, title="Warm"))
    DECLARED.clear()

    with counted() as calls:
        exec(source, names)
        publish_all()

    assert calls[0] < MOST_CALLS_TRACED * MANY
    assert WorkflowVersion.objects.count() == MANY + 1
    with CaptureQueriesContext(connection) as captured:
        publish_all()
    assert len(captured) == 1


def test_the_statements_do_not_grow_with_the_workflows() -> None:
    first, few = queries_of(said(10)), queries_of(said(10, steps=3))
    assert queries_of(said(90)) <= first + 6  # some change, some are new
    assert queries_of(said(90, steps=3)) <= few + 6
    assert queries_of(said(90, steps=3)) == 1


def test_of_two_with_one_slug_the_last_counts() -> None:
    [first] = said(1, title="First")
    [last] = said(1, title="Last")

    [version] = publish_many_from_code([first, last]).values()

    assert (version.number, Workflow.objects.get().name) == (1, "Last 0")


def test_a_line_that_moved_is_no_change_of_the_workflow() -> None:
    [one] = said(1)
    publish_many_from_code([one])
    moved = CodeDefinition(one.slug, one.definition, one.origin, line=77)

    [version] = publish_many_from_code([moved]).values()

    row = Workflow.objects.get()
    assert (row.origin_line, row.revision, version.created) == (77, 1, False)
    assert Activity.objects.filter(object_id=row.pk).count() == 2  # made, published
