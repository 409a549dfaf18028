import pytest

from executions.definition.graph.validation import problems
from tests.unit.graph.catalog import definition, noop
from tests.unit.graph.containers import CONTAINERS, each, loop, reads


def found(*tasks, **more):
    many = problems(definition(tasks, **more), CONTAINERS)
    return [(problem.path, problem.code) for problem in many]


def codes(*tasks, **more):
    return [code for _, code in found(*tasks, **more)]


def message(*tasks):
    [problem] = problems(definition(tasks), CONTAINERS)
    return problem.message


def test_a_body_sees_its_own_earlier_tasks_and_what_comes_before_the_container():
    inner = each(
        "inner",
        noop("x"),
        reads("y", "{{ tasks.x.output }} {{ tasks.draft.output }} {{ tasks.fetch.error }}", "x"),
        after="draft",
    )

    assert codes(noop("fetch"), loop("outer", noop("draft"), inner, after="fetch")) == []


@pytest.mark.parametrize("name", ["beside", "outer", "inner", "later"])
def test_a_body_does_not_see_what_may_not_be_done_when_its_container_starts(name):
    reader = reads("reader", f"{{{{ tasks.{name}.output }}}}")
    inner = each("inner", reader)
    outer = loop("outer", inner, noop("later", after="inner"))

    assert found(noop("beside"), outer) == [
        ("tasks[1].body.tasks[0].body.tasks[0].with.v", "task_not_before")
    ]


def test_the_container_around_is_named_as_what_is_not_done():
    assert message(loop("refine", reads("a", "{{ tasks.refine.output }}"))) == (
        '"refine" is the container of this task, which has not finished; loop.previous has '
        "the outputs of the previous iteration"
    )
    assert message(noop("beside"), each("batch", reads("a", "{{ tasks.beside.output }}"))) == (
        '"beside" may not have finished when "batch" starts: no path leads from "beside" to "batch"'
    )


def test_a_name_means_the_innermost_task_that_has_it():
    shadowed = loop("l", reads("reader", "{{ tasks.a.output }}"), noop("a"), after="a")

    assert codes(noop("a"), shadowed) == ["task_not_before"]


def test_a_task_inside_a_body_is_not_seen_from_outside_and_the_message_says_what_is():
    outside = reads("end", "{{ tasks.one.output }}", after="batch")

    assert message(each("batch", noop("one")), outside) == (
        '"one" is inside the body of "batch" and not visible here; read tasks["batch"].output'
    )
    assert codes(each("batch", noop("one")), output="{{ tasks.one.output }}") == [
        "task_not_visible"
    ]
    assert codes(each("a", noop("one")), each("b", reads("two", "{{ tasks.one }}"))) == [
        "task_not_visible"
    ]


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{{ item.name }} {{ index }}", None),
        ("{{ loop.index }}", "not_in_loop"),
        ("{{ items }}", "unknown_name"),
        ("{{ event.total }}", "not_in_filter"),
    ],
)
def test_in_a_map_there_are_item_and_index(template, code):
    assert codes(each("m", reads("a", template))) == ([code] if code else [])


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{{ loop }} {{ loop.index }} {{ loop.iteration }} {{ loop.previous.a.x }}", None),
        ("{{ loop.first }}", "unknown_attribute"),
        ("{{ item }}", "not_in_map"),
        ("{{ index }}", "not_in_map"),
    ],
)
def test_in_a_loop_there_is_loop(template, code):
    assert codes(loop("l", reads("a", template))) == ([code] if code else [])


def test_a_container_itself_stands_outside_its_body():
    assert codes(each("m", noop("a"), items="{{ item }}")) == ["not_in_map"]
    assert codes(loop("l", noop("a"), count="{{ loop.index }}")) == ["not_in_loop"]
    assert codes(each("m", each("n", noop("a"), items="{{ item.lines }}"))) == []


def test_a_module_s_previous_is_in_its_own_task():
    chain = [
        {"id": "x", "use": "flow.noop"},
        {"id": "y", "use": "flow.noop", "with": {"v": "{{ previous }}"}},
    ]

    assert codes(loop("l", {"id": "a", "modules": chain})) == []
    assert codes(loop("l", reads("a", "{{ previous }}"))) == ["no_previous"]


def test_a_condition_sees_all_tasks_of_its_body_and_what_the_loop_may_read():
    condition = "{{ tasks.b.outcome == 'x' or tasks.a.output > tasks.fetch.output + loop.index }}"
    refine = loop("refine", noop("a"), noop("b", after="a"), after="fetch", until=condition)

    assert codes(noop("fetch"), refine) == []


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("{{ tasks.a.outputs }}", "unknown_attribute"),
        ("{{ tasks.a.output + tasks.later.output }}", "task_not_before"),
        ("{{ tasks.a.output + tasks.refine.output }}", "task_not_before"),
        ("{{ tasks.a.output + item }}", "not_in_map"),
        ("{{ loop.last }}", "unknown_attribute"),
        ("{{ tasks.a.output + previous }}", "no_previous"),
        ("{{ tasks.a.history }}", "no_history"),
        ("{{ tasks.deep.output }}", "task_not_visible"),
    ],
)
def test_a_condition_sees_nothing_else(condition, code):
    refine = loop("refine", noop("a"), each("m", noop("deep")), until=condition)

    assert found(refine, noop("later")) == [("tasks[0].with.until", code)]


def test_a_condition_in_a_map_may_read_the_item():
    refine = loop("refine", noop("a"), until="{{ tasks.a.output == item }}")

    assert codes(each("m", refine)) == []


def test_a_loop_s_tasks_see_the_history_of_all_its_tasks_themselves_included():
    tasks = [
        reads("a", "{{ tasks.a.history }} {{ tasks.b.history | length }}"),
        noop("b", after="a"),
    ]

    assert codes(loop("l", *tasks)) == []


def test_there_is_no_history_outside_a_loop_s_own_body():
    reader = reads("b", "{{ tasks.a.history }}", after="a")

    assert codes(noop("a"), reader) == ["no_history"]
    assert codes(each("m", noop("a"), reader)) == ["no_history"]
    assert codes(
        loop("l", noop("a"), each("m", reads("b", "{{ tasks.a.history }}"), after="a"))
    ) == ["no_history"]


def test_a_filter_of_a_waiting_module_sees_the_event_beside_all_else():
    config = {"filter": "{{ event.id == input.id and tasks.a.output }}", "name": "{{ event.id }}"}
    wait = {"id": "w", "use": "flow.wait_for_event", "with": config, "after": "a"}

    assert found(noop("a"), wait) == [("tasks[1].with.name", "not_in_filter")]


def test_a_filter_in_a_chain_sees_the_module_before():
    wait = {"use": "flow.wait_for_event", "with": {"filter": "{{ event.id == previous.id }}"}}
    chain = [{"id": "ask", "use": "flow.noop"}, {"id": "wait", **wait}]

    assert found({"id": "a", "modules": chain}) == []
    assert found({"id": "a", **wait}) == [("tasks[0].with.filter", "no_previous")]
