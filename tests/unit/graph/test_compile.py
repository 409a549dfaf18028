from uuid import UUID, uuid5

import pytest

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.model import POLICIES, policy, written_out
from executions.definition.graph.resolve import checksum, resolve
from tests.unit.graph.catalog import CATALOG, definition, noop

WORKFLOW = UUID("0190aaaa-0000-7000-8000-000000000000")


def compiled(document):
    return compile_graph(resolve(document, CATALOG), WORKFLOW)


def test_a_chain_of_modules_becomes_linked_steps_with_stable_ids():
    modules = [
        {"id": "build", "use": "flow.noop"},
        {"id": "pay", "use": "http.request", "with": {"url": "{{ previous.u }}"}},
    ]

    graph = compiled(
        definition([noop("first"), {"id": "charge", "modules": modules, "after": "first"}])
    )

    build, pay = (graph.steps[graph.by_path[path]] for path in ("charge.build", "charge.pay"))
    task = graph.tasks[graph.task_by_id["charge"]]
    assert (build.previous, build.following) == (None, pay.index)
    assert (pay.previous, pay.following) == (build.index, None)
    assert pay.reads_previous
    assert (pay.queue, pay.inline, pay.effect) == ("io", False, "idempotent")
    assert task.steps == (build.index, pay.index)
    assert build.task_uuid == pay.task_uuid == uuid5(WORKFLOW, "charge")
    assert pay.module_uuid == uuid5(pay.task_uuid, "pay")
    assert graph.roots == (0,)


def test_edges_and_order_follow_the_definition():
    graph = compiled(
        definition([noop("c", after=["a", "b:error"], join="all"), noop("a"), noop("b", after="a")])
    )

    assert graph.order == (1, 2, 0)
    assert [(edge.source, edge.on) for edge in graph.tasks[0].incoming] == [
        (1, "success"),
        (2, "error"),
    ]
    assert [task.handles_error for task in graph.tasks] == [False, False, True]
    assert [task.join for task in graph.tasks] == ["all", "any", "any"]


def test_a_step_knows_what_its_templates_read():
    tasks = [
        noop("a"),
        noop("b", after="a", **{"with": {"v": "{{ tasks.a.output[input.key] }}-{{ vars.x }}"}}),
    ]

    step = compiled(definition(tasks, variables={"x": 1}, output="{{ tasks.b.outcome }}")).steps[1]

    assert step.reads == {0}
    assert (step.reads_input, step.reads_vars, step.reads_previous) == (True, True, False)


def test_a_module_s_own_settings_come_before_its_task_s_and_those_before_its_type_s():
    modules = [
        {"id": "x", "use": "http.request", "with": {"url": "u"}, "timeoutSeconds": 5},
        {"id": "y", "use": "flow.noop"},
    ]
    task = {"id": "a", "modules": modules, "timeoutSeconds": 30, "retry": "patient"}

    x, y = compiled(definition([task])).steps

    assert (x.timeout_seconds, y.timeout_seconds) == (5, 30)
    assert (x.queue, y.queue) == ("io", "default")
    assert x.retry == POLICIES["patient"]


def test_the_configuration_s_hash_changes_with_it_and_with_nothing_else():
    def hash_of(**more):
        return compiled(definition([noop("a", **more)])).steps[0].config_hash

    assert hash_of(**{"with": {"a": 1, "b": 2}}) == hash_of(
        **{"with": {"b": 2, "a": 1}}, name="other"
    )
    assert hash_of(**{"with": {"a": 1}}) != hash_of(**{"with": {"a": 2}})


def test_the_checksum_ignores_what_is_for_the_studio_but_no_input_named_ui():
    plain = definition([noop("a", **{"with": {"ui": 1}})], edges=[])

    assert checksum(plain) == checksum(
        definition([noop("a", ui={"x": 1}, **{"with": {"ui": 1}})], edges=[], ui={})
    )
    assert checksum(plain) != checksum(definition([noop("a", **{"with": {"ui": 2}})], edges=[]))


def test_a_cycle_that_was_never_validated_is_an_error():
    with pytest.raises(ValueError, match="a, b"):
        compiled(definition([noop("a", after="b"), noop("b", after="a")]))


def test_the_named_policies_are_those_of_the_architecture():
    table = {
        name: (p.max_attempts, p.base_seconds, p.max_seconds, p.jitter_add, p.jitter_ratio)
        for name, p in POLICIES.items()
    }

    assert table == {
        "standard": (3, 1.0, None, (0.0, 0.5), 0.0),
        "llm": (4, 1.0, 60.0, (0.0, 0.0), 0.1),
        "patient": (10, 2.0, 300.0, (0.0, 3.0), 0.0),
        "none": (1, 0.0, None, (0.0, 0.0), 0.0),
    }


def test_a_policy_of_one_s_own_takes_the_rest_from_standard():
    own = policy(written_out({"maxAttempts": 7, "jitter": 0.2}))

    assert (own.max_attempts, own.base_seconds, own.jitter_add, own.jitter_ratio) == (
        7,
        1.0,
        (0.0, 0.0),
        0.2,
    )


def test_five_thousand_tasks_compile():
    tasks = [noop(f"t{i}", **({"after": f"t{i - 1}"} if i else {})) for i in range(5000)]

    graph = compiled(definition(tasks))

    assert graph.order == tuple(range(5000))
