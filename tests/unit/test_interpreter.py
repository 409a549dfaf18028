"""The tests' own interpreter, on workflows small enough to be checked by hand."""

from typing import Any

import pytest

from tests.support.graphs import Drawn
from tests.support.interpreter import FailedItem, Missing, Story, agrees, interpret

FAILS = {"failTimes": 99}


def task(name: str, use: str = "flow.noop", **inputs: Any) -> dict[str, Any]:
    return {"id": name, "use": use, "with": inputs}


def loop(name: str, body: list[Any], edges: list[Any] | None = None, **inputs: Any) -> Any:
    inside = {"tasks": body, "edges": edges or []}
    return task(name, "flow.loop", **inputs) | {"body": inside}


def mapped(name: str, body: list[Any], edges: list[Any] | None = None, **inputs: Any) -> Any:
    return loop(name, body, edges, **inputs) | {"use": "flow.map"}


def story(*tasks: Any, edges: Any = (), opened: bool = False) -> Story:
    drawn = Drawn({"tasks": [*tasks], "edges": [*edges]})
    return drawn.whole_story() if opened else drawn.story()


def test_a_loop_counts_and_hands_its_last_outputs_on() -> None:
    body = [task("sum", value="{{ (loop.previous.sum if loop.previous else 0) + loop.iteration }}")]
    told = story(loop("refine", body, count=3))
    assert told.state == "SUCCESS"
    assert told.outputs["refine.main"] == {"iterations": 3, "last": {"sum": 6}}
    assert told.done == {"refine.main", *(f"refine[{i}].sum.main" for i in range(3))}


def test_a_loop_of_no_iterations_has_nothing_last() -> None:
    assert story(loop("none", [task("a")], count=0)).outputs["none.main"] == {
        "iterations": 0,
        "last": None,
    }


@pytest.mark.parametrize(
    ("condition", "iterations"),
    [
        ({"until": "{{ tasks.g.outcome == 'b' }}"}, 2),
        ({"while": "{{ tasks.g.outcome != 'b' }}"}, 2),
        ({"while": "{{ tasks.g.outcome == 'b' }}"}, 0),
        ({"until": "{{ loop.index >= 2 }}"}, 3),
        ({"while": "{{ loop.index < 2 }}"}, 2),
        ({"until": "{{ true }}"}, 1),
    ],
)
def test_a_condition_sees_the_iteration_that_just_ended(
    condition: dict[str, str], iterations: int
) -> None:
    gate = task("g", "flow.switch", value="{{ ['a', 'b'][loop.index % 2] }}", cases=["a", "b"])
    told = story(loop("refine", [gate], **condition))
    assert told.outputs["refine.main"]["iterations"] == iterations


@pytest.mark.parametrize("condition", [{"until": "{{ false }}"}, {"while": "{{ true }}"}])
def test_a_loop_past_its_limit_fails(condition: dict[str, str]) -> None:
    told = story(loop("refine", [task("a")], maxIterations=2, **condition))
    assert told.dead == {"refine.main"}
    assert told.done == {"refine[0].a.main", "refine[1].a.main"}


def test_history_holds_the_earlier_iterations() -> None:
    body = [task("a", value="{{ loop.index }}"), task("b", value="{{ tasks.a.history }}")]
    told = story(loop("refine", body, [{"from": "a", "to": "b"}], count=3))
    assert told.outputs["refine.main"]["last"] == {"a": 2, "b": [0, 1]}


def test_a_map_gives_its_bodies_outputs_in_the_items_order() -> None:
    body = [task("a", value="{{ [item, index] }}")]
    assert story(mapped("batch", body, items=[7, 8])).outputs["batch.main"] == [[7, 0], [8, 1]]


def test_a_map_over_nothing_ends_at_once_and_one_over_no_list_fails() -> None:
    assert story(mapped("batch", [task("a")], items=[])).outputs["batch.main"] == []
    assert story(mapped("batch", [task("a")], items="{{ 'x' }}")).dead == {"batch.main"}


def test_a_body_with_several_last_tasks_gives_back_each_by_id() -> None:
    gate = task("g", "flow.switch", value="a", cases=["a", "b"])
    body = [gate, task("x", value=1), task("y", value=2)]
    edges = [{"from": "g", "to": "x", "on": "a"}, {"from": "g", "to": "y", "on": "b"}]
    told = story(mapped("batch", body, edges, items=[0]))
    assert told.outputs["batch.main"] == [{"x": 1, "y": None}]
    assert told.skipped == {"batch[0].y"}


BAD = task("bad", "test.effect", failTimes="{{ [0, 99, 0][index] }}")


def test_a_tolerant_map_goes_on_past_a_failed_item() -> None:
    told = story(mapped("batch", [BAD], items=[1, 2, 3], onItemError="continue"))
    assert told.state == "SUCCESS"
    assert told.failed == {"batch[1].bad.main"}
    assert told.outputs["batch.main"] == [None, FailedItem(frozenset({"batch[1].bad.main"})), None]


def test_a_failure_that_nobody_minds_is_dead_and_holds_its_container() -> None:
    told = story(mapped("batch", [BAD], items=[1, 2, 3]), task("other"))
    assert told.state == "FAILED"
    assert told.dead == {"batch[1].bad.main"}
    assert told.stuck == {"batch.main"}
    assert told.perhaps == {"batch[2]."}
    assert "other" in told.outcomes
    assert "batch[2].bad.main" not in told.ran()


def test_one_item_at_a_time_nothing_follows_a_failed_one() -> None:
    told = story(mapped("batch", [BAD], items=[1, 2, 3], maxConcurrency=1), opened=True)
    assert told.perhaps == set()
    assert told.ran() == {"batch.main", "batch[0].bad.main", "batch[1].bad.main"}


IN_MEMORY = task("get", value="{{ [1, 2, 3][index % 4] }}")


def _entered(body: Any, *places: str, **inputs: Any) -> Story:
    """Return the story if only these items of a map were entered."""
    document = {"tasks": [mapped("batch", [body], items=[*range(8)], **inputs)], "edges": []}
    return Drawn(document).story({f"batch[{place}]." for place in places}.__contains__)


def test_items_in_the_memory_of_a_worker_need_not_begin_once_another_failed() -> None:
    told = _entered(IN_MEMORY, "0", "1", "7")
    assert told.dead == {"batch[7].get.main"}
    assert told.done == {"batch[0].get.main", "batch[1].get.main"}
    assert told.perhaps == {f"batch[{index}]." for index in range(2, 7)}


def test_items_in_the_memory_of_a_worker_must_begin_while_none_failed() -> None:
    assert "batch[2].get.main" in _entered(IN_MEMORY, "0", "1").done


def test_items_with_rows_of_their_own_must_end_though_a_later_one_failed() -> None:
    failing = task("get", "test.effect", failTimes="{{ 99 if index == 3 else 0 }}")
    assert "batch[2].get.main" in _entered(failing, "0", "1", "3").done


def test_one_at_a_time_items_in_memory_must_end_before_the_next_begins() -> None:
    assert "batch[2].get.main" in _entered(IN_MEMORY, "0", "1", "3", maxConcurrency=1).done


def test_a_container_with_an_error_edge_fails_over_once_a_step_in_it_failed() -> None:
    edges = [{"from": "refine", "to": "mend", "on": "error"}]
    body = [task("a", "test.effect", **FAILS), task("b"), task("c")]
    told = story(
        loop("refine", body, [{"from": "a", "to": "b"}], count=2), task("mend"), edges=edges
    )
    assert told.state == "SUCCESS"
    assert told.failed == {"refine[0].a.main"}
    assert told.failed_over == {"refine.main"}
    assert told.skipped == {"refine[0].b"}
    assert told.done == {"refine[0].c.main", "mend.main"}


def test_a_failure_takes_the_error_edge_of_its_own_task_first() -> None:
    body = [task("a", "test.effect", **FAILS), task("b", value=5)]
    edges = [{"from": "a", "to": "b", "on": "error"}]
    told = story(mapped("batch", body, edges, items=[0], onItemError="continue"))
    assert told.outputs["batch.main"] == [5]
    assert told.failed_over == {"batch[0].a.main"}


def test_a_failure_travels_out_through_containers_to_the_one_that_minds_it() -> None:
    inner = loop("inner", [task("a", "test.effect", **FAILS)], count=2)
    told = story(mapped("batch", [inner], items=[0], onItemError="continue"))
    assert told.failed == {"batch[0].inner[0].a.main", "batch[0].inner.main"}
    assert told.done == {"batch.main"}


def test_a_name_means_the_innermost_task_that_has_it() -> None:
    inner = mapped("inner", [task("a", value="{{ item }}")], items=["{{ index + 10 }}"])
    told = story(mapped("batch", [inner], items=[0, 0]))
    assert told.outputs["batch.main"] == [[10], [11]]


def test_a_step_whose_end_nobody_told_is_missing() -> None:
    with pytest.raises(Missing, match=r"a\.main"):
        interpret({"tasks": [task("a")]}, {})


def test_outputs_agree_where_absent_and_null_are_the_same() -> None:
    assert agrees({"last": {"a": 1, "b": None}}, {"last": {"a": 1}})
    failed = FailedItem(frozenset({"a[0].b.main"}))
    found = {"error": {"message": "no", "type": "PERMANENT", "step": "a[0].b.main"}}
    assert agrees([failed, 1], [found, 1])
    assert not agrees([1, 2], [2, 1])
