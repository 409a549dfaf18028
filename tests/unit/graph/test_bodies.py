import pytest

from executions.definition.graph.document import normalise
from executions.definition.graph.model import Limits
from executions.definition.graph.resolve import checksum, resolve
from executions.definition.graph.validation import problems
from tests.unit.graph.catalog import definition, noop
from tests.unit.graph.containers import CONTAINERS, each, loop, reads


def found(*tasks, limits=None, **more):
    document = definition(tasks, **more)
    many = problems(document, CONTAINERS, limits or Limits())
    return [(problem.path, problem.code) for problem in many]


def said(*tasks, **more):
    [problem] = problems(definition(tasks, **more), CONTAINERS)
    return problem.message


def test_loops_and_maps_within_each_other_have_no_problems():
    inner = each("lines", reads("one", "{{ item }} {{ index }} {{ loop.index }}"))
    body = loop("refine", noop("draft"), inner | {"after": "draft"}, count="{{ input.n }}")

    assert found(body, noop("end", after="refine"), output="{{ tasks.refine.output.last }}") == []


def test_rules_look_into_bodies_at_any_depth():
    gate = {"id": "gate", "use": "flow.if", "with": {"condition": 1}}
    tasks = [
        noop("a", queue="control"),
        noop("a"),
        {"id": "typo", "use": "flow.nop"},
        noop("x", after="y"),
        noop("y", after="x"),
        gate,
        noop("late", after="gate"),
        reads("r", "{{ vars.nothing }} {{ 1 + }}"),
        noop("bad id", retry="patiently", credential="key"),
    ]

    base = "tasks[0].body.tasks[0].body.tasks"
    assert sorted(found(loop("outer", each("inner", *tasks)))) == sorted(
        [
            (f"{base}[8].id", "bad_slug"),
            (f"{base}[8].retry", "unknown_retry_policy"),
            (f"{base}[8].credential", "no_credential"),
            (f"{base}[1].id", "duplicate_id"),
            (f"{base}[0].queue", "reserved_queue"),
            (f"{base}[2].use", "unknown_module"),
            (f"{base}[6].after", "outcome_required"),
            (f"{base}[3]", "cycle"),
            (f"{base}[7].with.v", "unknown_variable"),
            (f"{base}[7].with.v", "template_syntax"),
        ]
    )


@pytest.mark.parametrize(
    ("task", "path", "code"),
    [
        (loop("a"), "body.tasks", "empty_body"),
        (each("a"), "body.tasks", "empty_body"),
        ({"id": "a", "use": "flow.loop", "with": {"count": 1}}, "body", "required"),
        (loop("a", noop("b")) | {"body": 3}, "body", "type"),
        (loop("a", noop("b")) | {"body": {}}, "body.tasks", "required"),
        (loop("a", noop("b")) | {"body": {"tasks": [], "x": 1}}, "body.x", "unknown_key"),
        (noop("a", body={"tasks": [reads("b", "{{ item }}")]}), "body", "unexpected_body"),
        (loop("a", noop("b")) | {"retry": "standard"}, "retry", "not_for_containers"),
        (each("a", noop("b")) | {"timeoutSeconds": 5}, "timeoutSeconds", "not_for_containers"),
        (
            {"id": "a", "use": "flow.lop", "body": {"tasks": [reads("b", "{{ loop.index }}")]}},
            "use",
            "unknown_module",
        ),
    ],
)
def test_a_body_stands_in_a_container_alone_and_holds_tasks(task, path, code):
    assert (f"tasks[0].{path}", code) in found(task)
    assert {place for place, _ in found(task)} <= {f"tasks[0].{path}", "tasks[0].body.tasks"}


def test_a_container_stands_alone_in_its_task():
    chain = [{"id": "one", "use": "flow.noop"}, {"id": "two", "use": "flow.map"}]
    task = {"id": "a", "modules": chain, "body": {"tasks": [noop("b")]}}

    assert ("tasks[0].modules[1].use", "container_in_chain") in found(task)


def test_ids_are_unique_in_one_body_and_may_come_again_in_another():
    assert found(noop("a"), loop("b", noop("a"), noop("b"))) == []


def test_an_edge_stays_in_its_body_and_the_message_says_where_the_other_task_is():
    inward = [{"from": "a", "to": "deep"}]
    outward = loop("l", noop("x", after="a"))

    assert found(noop("a"), loop("l", each("m", noop("deep"))), edges=inward) == [
        ("edges[0].to", "edge_leaves_body")
    ]
    assert said(noop("a"), loop("l", each("m", noop("deep"))), edges=inward) == (
        '"deep" is inside the body of "m", but an edge connects tasks of the same body; use '
        'its container "l" instead'
    )
    assert found(noop("a"), outward) == [("tasks[1].body.tasks[0].after", "edge_leaves_body")]
    assert said(noop("a"), outward) == (
        '"a" is inside the workflow itself, but an edge connects tasks of the same body; '
        'write the edge outside this body, and connect "l"'
    )


def nested(depth, name="t"):
    task = noop("end")
    for level in range(depth):
        task = loop(f"{name}{level}", task)
    return task


def test_bodies_stand_in_each_other_at_most_eight_deep():
    deepest = "tasks[0]" + ".body.tasks[0]" * 8 + ".body"

    assert found(nested(8)) == []
    assert found(nested(9)) == [(deepest, "bodies_too_deep")]
    assert found(nested(11)) == [(deepest, "bodies_too_deep")]


def test_the_longest_path_with_its_indexes_is_at_most_nine_hundred_characters():
    # Eight times a hundred and "[1234567]." and fifteen and ".main".
    task = end = {"id": "e" * 15, "use": "flow.noop"}
    for level in range(8):
        task = loop(f"{level}" * 100, task)

    innermost = "tasks[0]" + ".body.tasks[0]" * 8
    assert found(task) == []
    end["id"] += "x"
    assert found(task) == [(f"{innermost}.id", "path_too_long")]


def test_tasks_of_all_bodies_count():
    body = loop("l", *[noop(f"t{number}") for number in range(4_999)])

    assert found(body) == []
    assert found(body, noop("one-more")) == [("tasks", "too_many_tasks")]


def test_after_becomes_edges_of_its_own_body():
    tasks = normalise(definition([loop("l", noop("a"), noop("b", after="a"))]))["tasks"]

    assert tasks[0]["body"] == {
        "tasks": [noop("a"), noop("b")],
        "edges": [{"from": "a", "to": "b", "on": "success"}],
    }


def test_the_checksum_ignores_what_is_for_the_studio_in_bodies_too():
    plain = definition([loop("l", noop("a"), noop("b", after="a"))])
    drawn = definition([loop("l", noop("a", ui={"x": 1}), noop("b", after="a")) | {"ui": {}}])
    drawn["tasks"][0]["body"]["ui"] = {"zoom": 2}
    other = definition([loop("l", noop("a"), noop("b"))])

    assert checksum(drawn) == checksum(plain) != checksum(other)


def test_a_body_is_resolved_like_the_workflow_itself():
    inner = {"id": "pay", "use": "http.request", "with": {"url": "u"}, "after": "a"}

    resolved = resolve(definition([loop("l", noop("a", ui={}), inner)]), CONTAINERS)

    body = resolved["tasks"][0]["body"]
    assert body["edges"] == [{"from": "a", "to": "pay", "on": "success"}]
    [module] = body["tasks"][1]["modules"]
    assert (module["id"], module["queue"], module["retry"]["name"]) == ("main", "io", "standard")
    assert (module["container"], module["deferred"], module["cache"]) == ("", [], None)
