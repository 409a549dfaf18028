"""Tests of rolling back and forking inside loops and maps, where iterations continue."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.engine_database import engine_database
from tests.support.modules import marks
from tests.support.segments import claimed, recorded
from tests.support.single_thread import World, configured, world
from tests.support.workflows import ACTOR, effect, publish, start, states, task
from valkyr_plugins.timetravel.fork import Overrides, fork
from valkyr_plugins.timetravel.rollback import roll_back


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Replace the broker; the test runs the workers."""
    quiet = world(Random(0), monkeypatch, lose=0, double=0, die=0)
    with quiet as made, configured(stretch_steps=32, segment_steps=32):
        yield made


def loop(body: list[Any], after: Any = None, **inputs: Any) -> dict[str, Any]:
    return task("refine", "flow.loop", after, **{"with": inputs}, body={"tasks": body})


def over(body: list[Any], after: Any = None, **inputs: Any) -> dict[str, Any]:
    return task("batch", "flow.map", after, **{"with": inputs}, body={"tasks": body})


LOOP = {
    "output": "{{ tasks.refine.output }}",
    "tasks": [
        effect("begin"),
        loop(
            [
                effect("draft", value="{{ loop.index }}"),
                effect("check", "draft", value="{{ tasks.draft.output * 10 }}"),
            ],
            "begin",
            count=4,
        ),
        effect("bad", "refine", failTimes=1, errorType="PERMANENT"),
    ],
}
MAP = {
    "output": "{{ tasks.batch.output }}",
    "tasks": [
        over(
            [effect("get", value="{{ item }}"), effect("put", "get", value="{{ index }}")],
            items=["a", "b", "c", "d"],
            maxConcurrency=2,
        ),
        effect("bad", "batch", failTimes=1, errorType="PERMANENT"),
    ],
}
NESTED = {
    "output": "{{ tasks.refine.output.last.batch }}",
    "tasks": [
        loop(
            [over([effect("get", value="{{ [loop.index, item] }}")], items=[1, 2, 3])],
            count=3,
        ),
        effect("bad", "refine", failTimes=1, errorType="PERMANENT"),
    ],
}


def failed(queue: World, document: dict[str, Any]) -> UUID:
    pk = start(publish(document))
    queue.drain()
    assert states([pk])[pk] == "FAILED"
    return pk


def good(queue: World, pk: UUID) -> WorkflowExecution:
    queue.drain()
    execution = WorkflowExecution.objects.get(pk=pk)
    assert execution.state == "SUCCESS", execution.error_message
    audit([pk])
    return execution


def ran(pk: UUID, path: str) -> int:
    return sum(mark["step"] == path for mark in marks(pk))


def present(pk: UUID, path: str) -> Run:
    return Run.objects.exclude(state="FAILED").get(
        execution_id=pk, step_path=path, superseded=False
    )


def test_a_loop_that_had_ended_goes_on_from_one_of_its_iterations(queue: World) -> None:
    pk = failed(queue, LOOP)
    ended = present(pk, "refine.main")

    roll_back(pk, step_path="refine[2].draft.main", actor=ACTOR)

    revived = present(pk, "refine.main")
    assert (revived.state, revived.waits_for, revived.epoch) == ("WAITING", "body", 1)
    assert revived.pk != ended.pk
    execution = good(queue, pk)
    assert execution.output == {"iterations": 4, "last": {"draft": 3, "check": 30}}
    again = {
        f"refine[{i}].{name}.main": ran(pk, f"refine[{i}].{name}.main")
        for i in range(4)
        for name in ("draft", "check")
    }
    assert [path for path, times in again.items() if times == 2] == [
        "refine[2].check.main",
        "refine[3].draft.main",
        "refine[3].check.main",
    ]
    assert ran(pk, "begin.main") == 1


def test_back_to_the_end_of_an_iteration_begins_the_next(queue: World) -> None:
    pk = failed(queue, LOOP)
    roll_back(pk, step_path="refine[1].check.main", actor=ACTOR)
    good(queue, pk)
    assert [ran(pk, f"refine[{i}].draft.main") for i in range(4)] == [1, 1, 2, 2]


def test_back_to_the_last_step_of_the_last_iteration_ends_the_loop(queue: World) -> None:
    pk = failed(queue, LOOP)
    roll_back(pk, step_path="refine[3].check.main", actor=ACTOR)
    execution = good(queue, pk)
    assert execution.output["iterations"] == 4
    assert [ran(pk, f"refine[{i}].check.main") for i in range(4)] == [1, 1, 1, 1]


def test_back_before_a_loop_begins_it_anew(queue: World) -> None:
    pk = failed(queue, LOOP)
    roll_back(pk, step_path="begin.main", actor=ACTOR)
    good(queue, pk)
    assert [ran(pk, f"refine[{i}].draft.main") for i in range(4)] == [2, 2, 2, 2]


def test_back_to_a_loop_that_had_ended_leaves_it_alone(queue: World) -> None:
    pk = failed(queue, LOOP)
    roll_back(pk, step_path="refine.main", actor=ACTOR)
    good(queue, pk)
    assert [ran(pk, f"refine[{i}].draft.main") for i in range(4)] == [1, 1, 1, 1]


def test_a_map_keeps_the_items_that_were_done(queue: World) -> None:
    pk = failed(queue, MAP)
    gets = list(
        Run.objects.filter(execution_id=pk, step_path__endswith="get.main").order_by("finished_at")
    )

    roll_back(pk, step_path=gets[2].step_path, actor=ACTOR)

    execution = good(queue, pk)
    assert execution.output == [0, 1, 2, 3]
    times = {run.step_path: ran(pk, run.step_path) for run in gets}
    assert [times[run.step_path] for run in gets] == [1, 1, 1, 2]


def _one_fails(bad: int) -> dict[str, Any]:
    """Return two parallel items, one of which fails; an error edge handles the failure."""
    get = effect("get", failTimes=f"{{{{ 9 if index == {bad} else 0 }}}}", errorType="PERMANENT")
    return {
        "tasks": [
            over([get], items=["a", "b"], maxConcurrency=2),
            effect("beside"),
            effect("minded"),
        ],
        "edges": [{"from": "batch", "to": "minded", "on": "error"}],
    }


@pytest.mark.parametrize("bad", [0, 1])
def test_an_item_open_when_another_failed_is_let_end(queue: World, bad: int) -> None:
    open_, failing = f"batch[{1 - bad}].get.main", f"batch[{bad}].get.main"
    pk = start(publish(_one_fails(bad)))
    recorded(claimed(pk, "batch.main"))
    claimed(pk, open_)
    for path in (failing, "beside.main"):
        recorded(claimed(pk, path))

    roll_back(pk, step_path="beside.main", actor=ACTOR)

    good(queue, pk)
    assert present(pk, open_).state == "SUCCESS"
    assert ran(pk, failing) == 1
    assert Run.objects.get(execution_id=pk, step_path="batch.main").state == "FAILED"


def test_items_set_back_begin_again_beside_those_that_are_kept(queue: World) -> None:
    pk = start(publish(MAP))
    recorded(claimed(pk, "batch.main"))
    recorded(claimed(pk, "batch[0].get.main"))

    roll_back(pk, step_path="batch[0].get.main", actor=ACTOR)

    assert present(pk, "batch[1].get.main").state == "PENDING", "it need not wait for item 0"
    queue.drain()
    assert ran(pk, "batch[0].get.main") == 1


def test_back_into_a_map_in_a_loop(queue: World) -> None:
    pk = failed(queue, NESTED)

    roll_back(pk, step_path="refine[1].batch[0].get.main", actor=ACTOR)

    execution = good(queue, pk)
    assert execution.output == [[2, 1], [2, 2], [2, 3]]
    assert ran(pk, "refine[0].batch[2].get.main") == 1
    assert ran(pk, "refine[1].batch[0].get.main") == 1
    assert [ran(pk, f"refine[2].batch[{i}].get.main") for i in range(3)] == [2, 2, 2]


def test_a_step_that_runs_in_a_body_is_fenced_and_the_container_waits_on(queue: World) -> None:
    pk = start(publish(LOOP))
    while not Run.objects.filter(
        execution_id=pk, step_path="refine[1].check.main", state="RUNNING"
    ).exists():
        queue.turn()
    waiting = present(pk, "refine.main")

    roll_back(pk, step_path="refine[0].check.main", actor=ACTOR)

    assert present(pk, "refine.main").pk == waiting.pk, "it never ended, so it is not copied"
    queue.drain()
    assert queue.fenced
    assert states([pk])[pk] == "FAILED"
    assert [ran(pk, f"refine[{i}].draft.main") for i in range(4)] == [1, 2, 1, 1]


def test_a_fork_goes_on_inside_a_loop(queue: World) -> None:
    origin = failed(queue, LOOP)

    made = fork(
        origin,
        step_path="refine[2].check.main",
        actor=ACTOR,
        overrides=Overrides(steps={"refine[2].check.main": {"value": "changed"}}),
    )
    queue.drain()

    assert [ran(made.pk, f"refine[{i}].draft.main") for i in range(4)] == [0, 0, 0, 1]
    assert present(made.pk, "refine[2].check.main").outputs == "changed"
    assert present(made.pk, "refine[1].check.main").outputs == 10
    assert states([made.pk])[made.pk] == "FAILED", "the last step fails once here too"
    roll_back(made.pk, step_path="refine[1].check.main", actor=ACTOR)
    good(queue, made.pk)


def test_a_fork_goes_on_inside_a_map_in_a_loop(queue: World) -> None:
    origin = failed(queue, NESTED)
    made = fork(origin, step_path="refine[1].batch[1].get.main", actor=ACTOR)
    queue.drain()
    assert ran(made.pk, "refine[0].batch[1].get.main") == 0
    assert ran(made.pk, "refine[1].batch[1].get.main") == 1
    assert present(made.pk, "refine.main").outputs["last"] == {"batch": [[2, 1], [2, 2], [2, 3]]}
