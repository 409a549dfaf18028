"""The importer finds what n8n's JavaScript programs read, and names what has no equivalent."""

from typing import Any

import pytest

from tests.plugins.n8n.exports import chain, codes, converted, export, node, row, tasks
from valkyr_plugins.n8n.families.code import JAVASCRIPT
from valkyr_plugins.n8n.javascript.inspection import Unsupported, inspected
from valkyr_plugins.n8n.javascript.scanning import REGEX, UnreadableProgram, tokens

ROWS = node("Rows", "splitOut", {"fieldToSplitOut": "rows"}, 1)
BEFORE = node(
    "Before", "set", {"values": {"string": [{"name": "a", "value": "1"}]}, "keepOnlySet": True}
)


def program(source: str, *before: Any, kind: str = "code", **more: Any) -> Any:
    """Convert a program behind other nodes."""
    name = "jsCode" if kind == "code" else "functionCode"
    return chain(*(before or (BEFORE,)), node("It", kind, {name: source, **more}, 2))


def test_a_program_with_all_items_is_one_task() -> None:
    found = program("return $input.all().map((x) => ({ json: { b: x.json.a } }));", ROWS)

    task = tasks(found)["it"]
    assert task["use"] == "javascript.code"
    assert task["with"]["inputs"] == {"items": "{{ tasks.rows.output }}"}
    assert row(found, "It").status == "changed"
    assert JAVASCRIPT in row(found, "It").remarks
    assert codes(found) == set()


def test_a_program_for_each_item_stands_in_a_map() -> None:
    found = program("return { json: { b: $json.a } };", ROWS, mode="runOnceForEachItem")

    [entry] = [one for one in found.definition["tasks"] if one["use"] == "flow.map"]
    assert entry["body"]["tasks"][0]["with"]["inputs"] == {"items": "{{ item }}"}
    assert codes(found) == set()


@pytest.mark.parametrize("kind", ["function", "functionItem"])
def test_older_nodes_with_programs_are_mapped(kind: str) -> None:
    found = program("item.b = 1; return item;", kind=kind)

    assert tasks(found)["it"]["use"] == "javascript.code"
    assert tasks(found)["it"]["with"]["inputs"] == {"items": "{{ tasks.before.output }}"}


@pytest.mark.parametrize(
    "ends",
    [
        "return [{ json: { a: 1 } }];",
        "return { json: { a: f(1, 2) } }",
        "if (x) { return [{ json: {} }]; } return [{ a }];",
        "const f = () => { return [1, 2]; }; return [{ json: f() },];",
        "function f() { return []; } return [f()];",
        "const o = { m(a) { return []; } }; return [{ json: o }];",
    ],
)
def test_a_program_that_returns_one_item_is_followed_by_no_map(ends: str) -> None:
    after = node("After", "set", {"values": {"string": [{"name": "x", "value": "={{ $json.a }}"}]},
                                  "keepOnlySet": True})  # fmt: skip
    found = chain(BEFORE, node("It", "code", {"jsCode": f"const x = 1, a = 2; {ends}"}, 2), after)

    assert tasks(found)["after"]["with"]["values"] == {"x": "{{ tasks.it.output.result[0].a }}"}
    assert [one["use"] for one in found.definition["tasks"]].count("flow.map") == 0


@pytest.mark.parametrize(
    "ends",
    ["return items;", "return [];", "return [...items];", "return [{}, {}];", "items.map(f);",
     "if (x) { return []; } return [{ json: {} }];", "return [{}].concat(items);"],
)  # fmt: skip
def test_other_programs_return_a_list(ends: str) -> None:
    assert not inspected(ends).single


def test_other_nodes_that_a_program_reads_are_its_inputs() -> None:
    source = """
const a = $('Rows').first().json.a, b = $node["Before"].json.b;
const c = $items("Before").length, d = $('Rows').all().map((item) => item.json);
return [{ json: { a, b, c, d } }];
"""
    found = program(source, BEFORE, ROWS)

    assert tasks(found)["it"]["with"]["inputs"] == {
        "nodes": {"Rows": "{{ tasks.rows.output }}", "Before": "{{ tasks.before.output }}"}
    }


def test_a_node_that_does_not_always_run_before_is_left_to_the_user() -> None:
    found = program("return [{ json: $('Later').first().json }];")

    assert row(found, "It").status == "changed"
    assert codes(found) == {"unfinished"}


def test_variables_and_the_execution_s_id_are_its_inputs() -> None:
    found = program("return [{ json: { a: $env.SHOP, b: $vars['city'], c: $execution.id } }];")

    assert tasks(found)["it"]["with"]["inputs"]["outer"] == {
        "$env": {"SHOP": "{{ vars.SHOP }}"}, "$vars": {"city": "{{ vars.city }}"},
        "$execution": {"id": "{{ execution.id }}"},
    }  # fmt: skip


def test_a_split_list_of_values_keeps_its_name() -> None:
    found = program("return items.map((item) => ({ json: { n: item.json.rows } }));",
                    node("Rows", "splitOut", {"fieldToSplitOut": "rows"}, 1))  # fmt: skip

    assert 'named(inputs.items, "rows")' in tasks(found)["it"]["with"]["code"]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("const fs = require('fs'); return items;", "loads modules (require)"),
        ("const x = await import('x'); return items;", "loads modules (import)"),
        ("return await fetch('https://a.example');", "makes requests (fetch)"),
        ("return await this.helpers.httpRequest({ url });", "makes requests (helpers)"),
        ("const { helpers } = this; return helpers.x();", ""),
        ("return $helpers.httpRequest({});", "makes requests ($helpers)"),
        ("const s = $getWorkflowStaticData('global'); return items;", "keeps data between"),
        ("const s = this.getWorkflowStaticData('node'); return items;", "keeps data between"),
        ("return [{ json: {}, binary: { data } }];", "files of n8n's (binary)"),
        ("return items[0].binary.data;", "files of n8n's (binary)"),
        ("return $now.toISO();", "Luxon"),
        ("return DateTime.now();", "Luxon"),
        ("return [{ d: new Date().toLocaleDateString('de') }];", "formats for a language"),
        ("return [{ d: Buffer.alloc(9) }];", "uses Buffer.alloc"),
        ("return [{ d: x.toLocaleString('en-US', options) }];", "formats for a language"),
        ("return [{ d: x.toLocaleString('en-US', { timeZone: 'Asia/Tokyo' }) }];", "formats for"),
        ("return [{ d: x.toLocaleString('en-US', { style: 'currency' }) }];", "formats for"),
        ("return [{ d: new URL('a') }];", "uses URL"),
        ("await new Promise((done) => setTimeout(done, 1000));", "uses setTimeout"),
        ("return process.env;", "uses process"),
        ("return $('X').params;", "reads params of $('X')"),
        ("return $input.context;", "reads context of $input"),
        ("return $node['X'].parameter.y;", "reads parameter of another node"),
        ("const name = 'X'; return $(name).all();", "computes which node"),
        ("return $(`X ${1}`).all();", "computes which node"),
        ("return $('X').all(1);", "another output of $('X')"),
        ("return $jmespath($json, 'a');", "reads $jmespath of n8n"),
        ("return $env;", "reads all of $env"),
        ("const apiKey = 'abcdefghijkl123';", "looks like a secret"),
        ("const t = 'sk-proj-abcdefghijklmnop1234';", "looks like a secret"),
    ],
)
def test_a_program_that_reads_more_than_its_data_is_left(source: str, says: str) -> None:
    if not says:
        return  # names that the program declares itself are its own
    found = program(source)

    assert row(found, "It").status == "left"
    assert says in row(found, "It").remarks[-1]


@pytest.mark.parametrize(
    "source",
    [
        "const fetch = (x) => x; return [{ json: { a: fetch(1) } }];",
        "const { URL } = $json; return [{ json: { URL } }];",
        "return items.map((document) => ({ json: document.json }));",
        "function process(x) { return x; } return items.map(process);",
        "return [{ json: { require: 1, fetch: 2, text: 'require(x)', b: `fetch` } }];",
        "// require('fs') or $now\n/* fetch(x) */ return items;",
        "return [{ json: { a: $json.process, b: $json.url } }];",
        "return [{ json: { a: /require\\(/.test($json.a), b: 4 / 2 / 1 } }];",
        "const apiKey = 'YOUR_API_KEY_HERE'; return items;",
    ],
)
def test_names_of_its_own_and_words_in_texts_are_no_obstacle(source: str) -> None:
    assert tasks(program(source))["it"]["use"] == "javascript.code"


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("return [{json: {a: {b: 1}}}];", "return [{json: {a: {b: 1}}}];"),
        ("const a = '{{ x }}';", "const a = '{\\x7b x }}';"),
        ("const a = `{{${1}{%`;", "const a = `{\\x7b${1}{\\x25`;"),
        ("const a = `${{b: 1}}`;", "const a = `${ {b: 1}}`;"),
        ("{{ let a; }}", "{ { let a; }}"),
        ("/\\{{2}{{/.test(a)", "/\\{\\x7b2}{\\x7b/.test(a)"),
        ("// {{ a }}\n1", "// { { a }}\n1"),
        ("class A {#a = 1}", "class A { #a = 1}"),
    ],
)
def test_a_program_is_no_template(source: str, written: str) -> None:
    assert inspected(source).source == written


@pytest.mark.parametrize(
    "source", ["return {", "return )", "const a = 'x\n';", "`${", "`a", "/* a", "a ]", "\\"]
)
def test_a_program_that_cannot_be_read_is_left(source: str) -> None:
    with pytest.raises(UnreadableProgram):
        inspected(source)

    assert row(program(source), "It").status == "left"


def test_a_slash_is_a_division_or_begins_a_regular_expression() -> None:
    source = "a / b / c; return /[/'\"]/g.test(x) && (1) / 2; s.replace(/a/, '/'); `${/`/}`"

    assert [one.text for one in tokens(source) if one.kind == REGEX] == ["/[/'\"]/g", "/a/", "/`/"]


@pytest.mark.parametrize(
    "part", ["/*a", "/[", "/(", "`${", "'", "({", "$('a', ", "return [", "a=>(", "const {",
             "if (a) {", "{{", "//", "\\", "x.x", "() => {"],
)  # fmt: skip
def test_no_program_takes_long_to_inspect(part: str) -> None:
    import time
    from contextlib import suppress

    began = time.process_time()
    for text in (part * (45_000 // len(part)), part * 3_000 + "}" * 3_000 + ")" * 3_000):
        with suppress(UnreadableProgram, Unsupported):
            inspected(text)

    assert time.process_time() - began < 2


def test_programs_give_way_where_the_definition_would_be_too_large() -> None:
    code = "x = 1;\n" * 3000
    many = [node(f"Code {place}", "code", {"jsCode": code}) for place in range(100)]

    found = converted(export(*many))

    assert {one["use"] for one in found.definition["tasks"]} == {"n8n.placeholder"}
    assert "too large" in row(found, "Code 7").remarks[-1]
