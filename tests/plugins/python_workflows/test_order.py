"""Tests of the order of tasks: by the results that they read, lines, branches and options."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.plugins.python_workflows.flows import note, pack
from valkyr import (
    TracingError,
    approve,
    callback,
    chain,
    each,
    expr,
    failed,
    first_of,
    modules,
    otherwise,
    outcome,
    parallel,
    repeat,
    sleep,
    step,
    then,
    variables,
    wait_event,
    when,
)
from valkyr_plugins.python_workflows.workflow import DECLARED, PythonWorkflow


@step
def fetch(name: str) -> list[int]:
    """Fetch a list."""
    return []


@step
def join(one: list[int], other: list[int]) -> str:
    """Join two lists."""
    return ""


def document(function: Callable[..., Any]) -> dict[str, Any]:
    found = PythonWorkflow(function, {})
    DECLARED.remove(found)
    return found.definition


def edges(function: Callable[..., Any]) -> dict[str, list[str]]:
    """Return the predecessors of each task, after `all` if the task needs all of them."""
    found = {}
    for task in document(function)["tasks"]:
        after = task.get("after", [])
        listed = [after] if isinstance(after, str) else after
        found[task["id"]] = ([task["join"]] if "join" in task else []) + sorted(listed)
    return found


def test_steps_that_take_nothing_from_each_other_run_side_by_side() -> None:
    def flow(name: str) -> None:
        one = fetch(name)
        other = fetch("b")
        joined = join(one, other)

    assert edges(flow) == {"one": [], "other": [], "joined": ["all", "one", "other"]}


def test_a_step_comes_after_the_nearest_of_what_it_reads() -> None:
    def flow(name: str) -> None:
        one = fetch(name)
        two = fetch(f"{one}")
        joined = join(one, two)

    assert edges(flow)["joined"] == ["two"]


def test_a_wait_is_a_line() -> None:
    def flow(name: str) -> None:
        one = fetch(name)
        other = fetch("b")
        pause = sleep("1m")
        last = fetch("c")

    assert edges(flow) == {
        "one": [], "other": [], "pause": ["all", "one", "other"], "last": ["pause"],
    }  # fmt: skip


def test_then_is_a_line_without_a_task() -> None:
    def flow(name: str) -> None:
        one = fetch(name)
        other = fetch("b")
        then()
        last = note("c")

    assert edges(flow)["last"] == ["all", "one", "other"]


def test_both_ways_of_a_decision_meet_below() -> None:
    def flow(name: str) -> None:
        with when(name == "x", id="x"):
            yes = note("yes")
        with otherwise():
            no = note("no")
        last = note(first_of(yes, no))

    assert edges(flow) == {"x": [], "yes": ["x:true"], "no": ["x:false"], "last": ["no", "yes"]}


def test_what_stands_below_does_not_wait_for_a_branch_of_one_step() -> None:
    def flow(name: str) -> None:
        one = fetch(name)
        with when(failed(one)):
            sorry = note("sorry")
        last = note(f"{one}")

    assert edges(flow) == {"one": [], "sorry": ["one:error"], "last": ["one"]}


def test_what_a_branch_gave_is_read_where_it_may_be_missing() -> None:
    def flow(name: str) -> None:
        one = note(name)
        with when(failed(one)):
            other = note("other way")
        last = note(first_of(one, other))

    assert edges(flow)["last"] == ["one", "other"]


def test_two_outcomes_may_lead_to_one_branch() -> None:
    def flow(name: str) -> None:
        decision = approve("Really?", within="1d")
        with when(decision.rejected | decision.expired):
            no = note("no")
        yes = note("yes")

    assert edges(flow)["no"] == ["decision:expired", "decision:rejected"]
    assert edges(flow)["yes"] == ["decision:approved"]


def test_a_branch_needs_what_it_reads_beside_it() -> None:
    def flow(name: str) -> None:
        other = fetch("b")
        one = fetch(name)
        with when(failed(one)):
            sorry = note(f"{other}")

    assert edges(flow)["sorry"] == ["all", "one:error", "other"]


def test_edges_that_are_said_count_alone() -> None:
    def flow(name: str) -> None:
        one = fetch(name)
        sleep("1m")
        first = note.options(after=[])("first")
        last = note.options(after=[one, failed(one)], join="any")("last")

    assert edges(flow)["first"] == []
    assert edges(flow)["last"] == ["any", "one", "one:error"]


def test_an_arrow_adds_an_edge() -> None:
    def flow(name: str) -> None:
        one: Any = fetch(name)
        last: Any = note("last")
        one >> last

    assert edges(flow)["last"] == ["one"]


def test_arrows_in_a_circle_are_refused() -> None:
    def flow(name: str) -> None:
        one: Any = fetch(name)
        last: Any = note("last")
        one >> last >> one

    with pytest.raises(TracingError, match="cannot run before"):
        document(flow)


def test_lines_side_by_side_meet_below() -> None:
    def flow(name: str) -> None:
        with parallel():
            paid = wait_event("paid")
            pause = sleep("1h")
        last = note("last")

    assert edges(flow) == {"paid": [], "pause": [], "last": ["all", "paid", "pause"]}


def test_a_body_makes_its_container_wait_for_what_it_reads() -> None:
    def flow(names: list[str]) -> None:
        prefix = note("x")
        noted = each(names, lambda name: note(f"{prefix}{name}"))
        with repeat(count=3) as turn:
            again = note(f"{prefix}{turn.iteration}")

    assert edges(flow) == {"prefix": [], "noted": ["prefix"], "turn": ["noted"]}


def test_a_step_of_a_body_is_called_what_it_is() -> None:
    def flow(rows: list[int]) -> None:
        packed = each(rows, pack)

    (packed,) = document(flow)["tasks"]
    assert [one["id"] for one in packed["body"]["tasks"]] == ["pack"]


def test_a_bodys_value_is_its_result() -> None:
    def flow(rows: list[int]) -> None:
        each(rows, lambda row, number: {"row": pack(row), "number": number}, id="packed")

    (packed,) = document(flow)["tasks"]
    assert packed["body"]["tasks"][-1]["with"] == {
        "value": {"row": "{{ tasks.pack.output }}", "number": "{{ index }}"}
    }


def test_a_callbacks_address_is_known_before_it_waits() -> None:
    def flow(name: str) -> None:
        answer = callback(within="1h")
        told = note(answer.url)
        answer.wait()
        with when(answer.timed_out):
            late = note("late")

    assert edges(flow) == {"told": [], "answer": ["told"], "late": ["answer:timeout"]}


def test_the_expression_of_a_text_is_read_too() -> None:
    def flow(name: str) -> None:
        one = fetch(name)
        last = note("{{ tasks.one.output | length }}")
        again = note(expr("tasks.last.output"))

    assert edges(flow) == {"one": [], "last": ["one"], "again": ["last"]}


def leaking(rows: list[int]) -> None:
    kept: list[Any] = []
    each(rows, lambda row: kept.append(pack(row)))
    note(kept[0])


def outer_item(rows: list[list[int]]) -> None:
    each(rows, lambda row: each(row, lambda one: modules.flow.noop(value=[row, one])))


def is_none(name: str) -> None:
    note("missing" if name is None else name)


def known_condition(name: str) -> None:
    with when(len(__name__) > 2):
        note("always")


def unknown_field(name: str) -> None:
    made = variables(left=0)
    note(made.rigth)


def far_in_a_chain(name: str) -> None:
    with chain():
        one = note("one")
        note("two")
        note(one)


def twice(name: str) -> None:
    note.options(id="a")("one")
    note.options(id="a")("two")


def odd_option(name: str) -> None:
    note.options(retries=3)("one")


def option_as_argument(name: str) -> None:
    note("one", retry=3)  # type: ignore[call-arg]


def no_outcome(name: str) -> None:
    with when(outcome(name) == "x"):
        note("x")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (leaking, "ran inside a body"),
        (outer_item, "innermost"),
        (is_none, "is_missing"),
        (known_condition, "plain `if`"),
        (unknown_field, "no variable 'rigth'; declared: left"),
        (far_in_a_chain, "right before it"),
        (twice, "has the id 'a'"),
        (odd_option, "did you mean 'retry'"),
        (option_as_argument, r"note\.options\(retry=…\)"),
        (no_outcome, "expected the result of a step"),
    ],
)
def test_what_is_wrong_names_its_line(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(TracingError, match=says) as raised:
        document(function)

    file, line, _ = str(raised.value).split(":", 2)
    first = function.__code__.co_firstlineno
    assert file == __file__
    assert first <= int(line) <= first + 6
