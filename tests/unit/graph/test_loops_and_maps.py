import pytest

from executions.definition.graph.model import Limits
from executions.definition.graph.resolve import resolve
from executions.definition.graph.validation import problems
from tests.unit.graph.catalog import definition, noop
from tests.unit.graph.containers import CONTAINERS, each, loop

COUNTING = {"id": "count", "use": "flow.set_variables", "with": {"values": {"n": 1}}}


def found(task, *more, limits=None, **parts):
    document = definition([task, *more], variables={"n": 0, "fixed": 1}, **parts)
    many = problems(document, CONTAINERS, limits or Limits())
    return {(problem.path.removeprefix("tasks[0]."), problem.code) for problem in many}


@pytest.mark.parametrize(
    "config",
    [
        {"count": 0},
        {"count": 1_000_000},
        {"count": "{{ input.times }}"},
        {"until": "{{ tasks.a.output.done }}"},
        {"while": "{{ loop.index < 3 }}", "maxIterations": 1000},
        {"until": "{{ vars.n > 3 }}", "while": None},
        {"until": "{{ vars | length > 3 }}"},
    ],
)
def test_a_loop_ends_by_a_count_or_by_a_condition(config):
    assert found(loop("l", noop("a"), COUNTING, **config)) == set()


@pytest.mark.parametrize(
    ("config", "path", "code"),
    [
        ({"x": 1}, "with.x", "unknown_key"),
        ({"count": None}, "with", "loop_ending"),
        ({"count": 1, "until": "{{ loop.index }}"}, "with", "loop_ending"),
        ({"while": "{{ loop.index }}", "until": "{{ loop.index }}"}, "with", "loop_ending"),
        ({"count": -1}, "with.count", "value"),
        ({"count": 1_000_001}, "with.count", "value"),
        ({"count": 1.5}, "with.count", "type"),
        ({"count": "many"}, "with.count", "type"),
        ({"count": 3, "maxIterations": 5}, "with.maxIterations", "conflict"),
        ({"until": "{{ loop.index }}", "maxIterations": 0}, "with.maxIterations", "value"),
        ({"until": "{{ loop.index }}", "maxIterations": 1001}, "with.maxIterations", "loop_limit"),
        (
            {"until": "{{ loop.index }}", "maxIterations": "{{ input.n }}"},
            "with.maxIterations",
            "template_not_allowed",
        ),
    ],
)
def test_a_mistake_in_a_loop_s_with_has_its_own_path_and_code(config, path, code):
    assert found(loop("l", noop("a"), **config)) == {(path, code)}


def test_the_limit_of_iterations_is_the_installation_s_and_named():
    task = loop("l", noop("a"), until="{{ loop.index > 5 }}", maxIterations=50)

    few = problems(definition([task]), CONTAINERS, Limits(loop_limit_condition=49))

    assert found(task, limits=Limits(loop_limit_condition=50)) == set()
    assert "LOOP_LIMIT_CONDITION" in few[0].message
    assert "at most 49 iterations here, found 50" in few[0].message


@pytest.mark.parametrize(
    "condition",
    [
        True,
        "yes",
        "{{ true }}",
        "{{ input.done }}",
        "{{ vars.fixed > 2 }}",
        "{{ execution.attempt > 1 }}",
        "{{ tasks.before.output }}",
    ],
)
def test_a_condition_that_no_iteration_can_change_is_an_endless_loop(condition):
    task = loop("l", noop("a"), COUNTING, after="before", until=condition)

    assert found(task, noop("before")) == {("with.until", "endless_loop")}


def test_a_variable_changes_where_a_step_of_the_body_at_any_depth_sets_it():
    deep = loop("l", each("m", loop("k", COUNTING)), **{"while": "{{ vars.n < 3 }}"})
    beside = loop("l", noop("a"), **{"while": "{{ vars.n < 3 }}"})

    assert found(deep) == set()
    assert found(beside, COUNTING) == {("with.while", "endless_loop")}


def test_a_step_whose_variables_are_not_known_may_change_any():
    computed = COUNTING | {"with": {"values": "{{ input.values }}"}}

    assert found(loop("l", computed, until="{{ vars.fixed }}")) == set()


def test_a_mistake_in_a_condition_is_not_called_endless_as_well():
    for text, code in [
        ("{{ tasks.nobody.output }}", "unknown_task"),
        ("{{ vars.nothing }}", "unknown_variable"),
        ("{{ 1 + }}", "template_syntax"),
        ("{{ nothing }}", "unknown_name"),
    ]:
        assert found(loop("l", noop("a"), until=text)) == {("with.until", code)}


@pytest.mark.parametrize(
    "config",
    [
        {"items": []},
        {"items": ["{{ input.a }}", 2]},
        {"items": "{{ input.rows }}", "maxConcurrency": 1000, "onItemError": "continue"},
    ],
)
def test_a_map_has_items_and_may_say_how_many_at_once_and_what_errors_do(config):
    assert found(each("m", noop("a"), **config)) == set()


@pytest.mark.parametrize(
    ("config", "path", "code"),
    [
        ({"items": "abc"}, "with.items", "not_a_list"),
        ({"items": 3}, "with.items", "not_a_list"),
        ({"items": None}, "with.items", "not_a_list"),
        ({"items": {"a": 1}}, "with.items", "not_a_list"),
        ({"items": "rows: {{ input.rows }}"}, "with.items", "not_a_list"),
        ({"items": [0] * 100_001}, "with.items", "value"),
        ({"maxConcurrency": 0}, "with.maxConcurrency", "value"),
        ({"maxConcurrency": 1001}, "with.maxConcurrency", "value"),
        ({"maxConcurrency": "{{ input.n }}"}, "with.maxConcurrency", "template_not_allowed"),
        ({"onItemError": "ignore"}, "with.onItemError", "value"),
        ({"onItemError": "{{ input.x }}"}, "with.onItemError", "template_not_allowed"),
    ],
)
def test_a_mistake_in_a_map_s_with_has_its_own_path_and_code(config, path, code):
    assert found(each("m", noop("a"), **config)) == {(path, code)}


def test_items_must_be_given():
    task = each("m", noop("a"))
    del task["with"]

    assert found(task) == {("with.items", "required")}


def test_what_a_container_s_with_leaves_out_is_written_into_the_version():
    tasks = [
        loop("counted", noop("a")),
        loop("until", noop("a"), until="{{ loop.index > 3 }}", **{"while": None}),
        each("own", noop("a"), maxConcurrency=5, onItemError="continue"),
        each("default", noop("a")),
    ]

    resolved = resolve(definition(tasks), CONTAINERS, Limits(loop_limit_default=70))

    modules = [task["modules"][0] for task in resolved["tasks"]]
    assert [module["container"] for module in modules] == ["loop", "loop", "map", "map"]
    assert modules[0]["deferred"] == ["while", "until"]
    assert [module["with"] for module in modules] == [
        {"count": 3},
        {"until": "{{ loop.index > 3 }}", "maxIterations": 70},
        {"items": [1, 2], "maxConcurrency": 5, "onItemError": "continue"},
        {"items": [1, 2], "maxConcurrency": 100, "onItemError": "fail"},
    ]


def test_a_filter_that_is_null_is_no_filter():
    config = {"event": None, "filter": None}
    task = {"id": "wait", "use": "flow.wait_for_event", "with": config}

    resolved = resolve(definition([task]), CONTAINERS)

    assert resolved["tasks"][0]["modules"][0]["with"] == {"event": None}
