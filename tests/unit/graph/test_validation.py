import pytest

from executions.definition.graph.document import load_text
from executions.definition.graph.validation import MAX_PROBLEMS, problems
from tests.unit.graph.catalog import CATALOG, definition, noop, spec

TEN_MISTAKES = """
schema: valkyr/1
name: ten mistakes
colour: red
variables: {a: 1}
settings: {priority: 12}
tasks:
  - {id: fetch, use: http.requst, with: {url: "https://example.com"}}
  - {id: fetch, use: flow.noop}
  - {id: check, use: flow.if, with: {}}
  - {id: gate, use: flow.if, with: {condition: "{{ vars.b }}"}}
  - {id: early, use: flow.noop, with: {value: "{{ tasks.late.output }}"}}
  - {id: late, use: flow.noop, retry: patiently}
  - {id: one, use: flow.noop, after: two}
  - {id: two, use: flow.noop, after: one}
edges:
  - {from: gate, to: late}
triggers:
  - {type: CRON, schedule: "0 2 * * *", timezone: Europe/Berln}
"""


def found(document, catalog=CATALOG):
    return {(problem.path, problem.code) for problem in problems(document, catalog)}


def value(template, **more):
    return definition([noop("a", **{"with": {"value": template}})], **more)


def test_a_definition_with_ten_different_mistakes_reports_ten_problems_with_paths():
    document = load_text(TEN_MISTAKES, content_type="application/yaml")

    assert found(document) == {
        ("colour", "unknown_key"),
        ("settings.priority", "value"),
        ("tasks[0].use", "unknown_module"),
        ("tasks[1].id", "duplicate_id"),
        ("tasks[2].with.condition", "required"),
        ("tasks[3].with.condition", "unknown_variable"),
        ("tasks[4].with.value", "task_not_before"),
        ("tasks[5].retry", "unknown_retry_policy"),
        ("tasks[6]", "cycle"),
        ("edges[0].on", "outcome_required"),
        ("triggers[0].timezone", "unknown_timezone"),
    }
    assert len(problems(document, CATALOG)) == 11


def test_every_message_is_a_sentence_that_names_what_to_do():
    document = load_text(TEN_MISTAKES, content_type="yaml")

    messages = {problem.path: problem.message for problem in problems(document, CATALOG)}

    assert messages["tasks[0].use"] == (
        'there is no module "http.requst"; did you mean "http.request"?'
    )
    assert "one → two → one" in messages["tasks[6]"]
    assert messages["triggers[0].timezone"].endswith('did you mean "Europe/Berlin"?')


def test_a_definition_without_mistakes_has_no_problems():
    document = definition(
        [
            {
                "id": "fetch",
                "use": "http.request",
                "with": {"url": "{{ vars.base }}/{{ input.id }}"},
            },
            {
                "id": "risky",
                "use": "flow.if",
                "with": {"condition": "{{ tasks.fetch.output.x > 1 }}"},
            },
            {
                "id": "charge",
                "modules": [
                    {"id": "build", "use": "flow.noop", "with": {"v": "{{ execution.id }}"}},
                    {"id": "pay", "use": "flow.noop", "with": {"v": "{{ previous.amount }}"}},
                ],
                "after": ["risky:true"],
                "retry": {"maxAttempts": 5, "jitter": [0, 0.5]},
            },
            noop("refund", after="charge:error", join="all", timeoutSeconds=0.5),
        ],
        edges=[{"from": "fetch", "to": "risky"}, {"from": "risky", "to": "refund", "on": False}],
        input={"type": "object", "properties": {"id": {"$ref": "#"}}},
        variables={"base": "https://example.com"},
        output="{{ tasks.charge.output }}",
        settings={"priority": 0, "timeoutSeconds": 3600},
        triggers=[{"type": "CRON", "schedule": "*/5 2-4 * jan-mar mon,fri"}],
    )

    assert problems(document, CATALOG) == []


def test_an_empty_workflow_can_be_published():
    assert problems(definition(), CATALOG) == []


@pytest.mark.parametrize(
    "document", [None, 1, "x", [], {}, {"tasks": 5}, {"tasks": [1, {}, {"id": 3}]}]
)
def test_what_is_no_definition_at_all_is_a_problem_and_no_error(document):
    assert problems(document, CATALOG)


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{{ tasks.nobody.output }}", "unknown_task"),
        ("{{ tasks.a.output }}", "task_not_before"),
        ("{{ tasks[input.x].output }}", "dynamic_reference"),
        ("{{ vars.nothing }}", "unknown_variable"),
        ("{{ previous.x }}", "no_previous"),
        ("{{ now() }}", "unknown_name"),
        ("{{ execution.stopped }}", "unknown_attribute"),
        ("{{ secrets.key | upper }}", "secret_in_expression"),
        ("{{ secrets.Key }}", "secret_name"),
        ("{{ loop.index }}", "not_in_loop"),
        ("{{ item }}", "not_in_map"),
        ("{{ index }}", "not_in_map"),
        ("{{ event.total }}", "not_in_filter"),
        ("{{ input.x | shuffle }}", "unknown_filter"),
        ("{{ 1 + }}", "template_syntax"),
        ("{% if input.x %}", "template_statement"),
    ],
)
def test_a_template_that_cannot_work_is_refused_where_it_stands(template, code):
    assert found(value(template)) == {("tasks[0].with.value", code)}


def test_all_mistakes_of_one_template_are_reported():
    assert found(value("{{ vars.b }} {{ 1 + }} {{ tasks.c.output }}")) == {
        ("tasks[0].with.value", "unknown_variable"),
        ("tasks[0].with.value", "template_syntax"),
        ("tasks[0].with.value", "unknown_task"),
    }


def test_a_template_may_read_any_task_before_it_but_only_its_known_attributes():
    tasks = [noop("a"), noop("b", after="a"), noop("c", after="b:error")]
    tasks[2]["with"] = {"value": "{{ tasks.a.output }} {{ tasks.b.error }} {{ tasks.b.outputs }}"}

    assert found(definition(tasks)) == {("tasks[2].with.value", "unknown_attribute")}


def test_an_id_with_a_dash_is_explained():
    document = definition([noop("my-task"), noop("b", after="my-task")])
    document["tasks"][1]["with"] = {"value": "{{ tasks.my-task.output }}"}

    messages = [problem.message for problem in problems(document, CATALOG)]

    assert any('an id with a dash is written tasks["my-task"]' in message for message in messages)


@pytest.mark.parametrize(
    ("task", "path", "code"),
    [
        (noop("a", cache={}), "cache.ttlSeconds", "required"),
        (noop("a", credential="x"), "credential", "no_credential"),
        (
            {"id": "a", "use": "http.request", "with": {"url": "x"}, "credential": "a-b"},
            "credential",
            "bad_name",
        ),
        (noop("a", body={"tasks": [noop("b")]}), "body", "unexpected_body"),
        ({"id": "a"}, "use", "required"),
        ({"id": "a", "modules": []}, "modules", "value"),
        (noop("a", queue="control"), "queue", "reserved_queue"),
        (noop("a", queue="bad queue"), "queue", "bad_slug"),
        (noop("a", timeoutSeconds=601), "timeoutSeconds", "value"),
        (noop("a", timeoutSeconds="1"), "timeoutSeconds", "type"),
        (noop("a", join="some"), "join", "value"),
        (noop("a", retry={"maxAttempts": 0}), "retry.maxAttempts", "value"),
        (noop("a", retry={"jitter": [2, 1]}), "retry.jitter", "value"),
        (noop("a", retry=3), "retry", "type"),
        (noop("a", after="b"), "after", "unknown_task"),
        (noop("a", wiht={}), "wiht", "unknown_key"),
        (
            {"id": "a", "use": "flow.set_variables", "with": {"values": {"x": 1}}},
            "with.values.x",
            "unknown_variable",
        ),
    ],
)
def test_a_mistake_in_a_task_has_its_own_path_and_code(task, path, code):
    assert found(definition([task])) == {(f"tasks[0].{path}", code)}


def test_an_outcome_after_a_dot_is_corrected():
    gate = {"id": "choose", "use": "flow.if", "with": {"condition": 1}}
    reported = problems(definition([gate, noop("b", after="choose.true")]), CATALOG)
    messages = [problem.message for problem in reported]
    assert 'there is no task "choose.true"; did you mean "choose:true"?' in messages


def test_a_gate_can_only_end_a_chain():
    gate = {"id": "g", "use": "flow.if", "with": {"condition": 1}}
    task = {"id": "a", "modules": [gate, {"id": "n", "use": "flow.noop"}]}

    assert found(definition([task])) == {("tasks[0].modules[0].use", "gate_not_last")}


def test_edges_to_nowhere_doubled_or_on_impossible_outcomes_are_refused():
    edges = [
        {"from": "a", "to": "b"},
        {"from": "a", "to": "b"},
        {"from": "a", "to": "c"},
        {"from": "a", "to": "b", "on": "maybe"},
    ]

    assert found(definition([noop("a"), noop("b")], edges=edges)) == {
        ("edges[1]", "duplicate_edge"),
        ("edges[2].to", "unknown_task"),
        ("edges[3].on", "unknown_outcome"),
    }


def test_outcomes_that_depend_on_the_configuration_are_known():
    switch = {"id": "s", "use": "flow.switch", "with": {"cases": ["de", "fr"]}}
    edges = [{"from": "s", "to": "a", "on": "de"}, {"from": "s", "to": "a", "on": "it"}]

    assert found(definition([switch, noop("a")], edges=edges)) == {
        ("edges[1].on", "unknown_outcome")
    }


def test_a_task_behind_a_cycle_or_waiting_for_two_outcomes_at_once_cannot_be_reached():
    gate = {"id": "g", "use": "flow.if", "with": {"condition": 1}}
    tasks = [noop("a", after="b"), noop("b", after="a"), noop("c", after="b"), gate]
    tasks.append(noop("d", after=["g:true", "g:false"], join="all"))

    assert found(definition(tasks)) == {
        ("tasks[0]", "cycle"),
        ("tasks[2]", "unreachable"),
        ("tasks[4]", "unreachable"),
    }


def test_two_cycles_are_two_problems():
    tasks = [
        noop("a", after=["b", "d"]),
        noop("b", after="a"),
        noop("c", after="d"),
        noop("d", after="c"),
    ]

    assert found(definition(tasks)) == {("tasks[0]", "cycle"), ("tasks[2]", "cycle")}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "objekt"}, "input.type"),
        ({"$ref": "https://example.com/x"}, 'input["$ref"]'),
        ({"$ref": "#/nowhere"}, 'input["$ref"]'),
        ({"$ref": "#"}, "input"),
        ({"properties": {"a": {"pattern": "("}}}, "input.properties.a.pattern"),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, 'input["$schema"]'),
        (
            {"items": {"$schema": "https://json-schema.org/draft/2020-12/schema"}},
            'input.items["$schema"]',
        ),
    ],
)
def test_an_input_schema_that_could_not_be_used_is_refused(schema, path):
    assert (path, "bad_schema") in found(definition(input=schema))


def test_defaults_of_variables_are_values_and_names_are_identifiers():
    document = definition(variables={"a": ["{{ input.x }}"], "no-name": 1})

    assert found(document) == {
        ("variables.a[0]", "template_not_allowed"),
        ("variables.no-name", "bad_name"),
    }


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (definition([noop(f"t{i}") for i in range(5001)]), "too_many_tasks"),
        (definition(description="x" * 1_100_000), "too_large"),
        (definition(description="\x00"), "value"),
        (definition(description="\ud800"), "value"),
    ],
)
def test_a_document_past_a_cap_has_that_problem_only(document, code):
    assert [problem.code for problem in problems(document, CATALOG)] == [code]


def test_values_nested_too_deeply_are_refused_before_anything_else_looks_at_them():
    deep = []
    for _ in range(100_000):
        deep = [deep]

    assert found(definition(output=deep)) == {("", "too_deep")}


def test_very_many_problems_are_cut_and_said_to_be():
    result = problems(definition([{"id": "a b"} for _ in range(1000)]), CATALOG)

    assert len(result) == MAX_PROBLEMS + 1
    assert result[-1].code == "too_many_problems"


def test_a_module_whose_check_breaks_is_named_and_breaks_nothing():
    def check(config):
        raise ZeroDivisionError("oops")

    catalog = CATALOG | {"third.party": spec("third.party", check=check)}

    assert found(definition([{"id": "a", "use": "third.party"}]), catalog) == {
        ("tasks[0].with", "module_check_failed")
    }
