"""JavaScript programs from n8n return the results that they returned in n8n."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from executions import payloads
from executions.models import WorkflowExecution
from tests.plugins.n8n.exports import converted, export, node
from tests.support.engine_database import engine_database
from tests.support.single_thread import World, world
from tests.support.workflows import publish, start

BEGIN = node("Begin", "manualTrigger")
ROWS = node("Rows", "splitOut", {"fieldToSplitOut": "rows"}, 1)
INPUT = {"rows": [{"n": 1, "s": "ä"}, {"n": 2, "s": "b"}, {"n": 3, "s": ""}]}
RESULT = "tasks.it.output.result"


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


def run(queue: World, *nodes: Any, output: str = RESULT, given: Any = None) -> Any:
    """Run a chain of nodes; return the value of this expression."""
    names = ["Begin", *(one["name"] for one in nodes)]
    links = [(one, 0, other) for one, other in pairwise(names)]
    definition = converted(export(BEGIN, *nodes, links=links)).definition
    pk = start(publish(definition | {"output": "{{ " + output + " }}"}), given or INPUT)
    queue.drain()
    execution = WorkflowExecution.objects.get(pk=pk)
    assert execution.state == "SUCCESS", execution.error_message
    found = execution.output
    return payloads.load(found) if isinstance(found, bytes) else found


def program(source: str, kind: str = "code", **more: Any) -> Any:
    name = "jsCode" if kind == "code" else "functionCode"
    return node("It", kind, {name: source, **more}, 2)


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        ("return $input.all().filter((x) => x.json.n > 1);", "code", INPUT["rows"][1:]),
        ("for (const item of $input.all()) { item.json.m = item.json.n * 2 }\nreturn $input.all();",
         "code", [{**row, "m": row["n"] * 2} for row in INPUT["rows"]]),
        ("return items.map(({ json, pairedItem }) => ({ json: { i: pairedItem.item } }));", "code",
         [{"i": 0}, {"i": 1}, {"i": 2}]),
        ("items[0].json.n = 9; return [items[0]];", "function", [{"n": 9, "s": "ä"}]),
        (("return [{ all: items.length, first: $input.first().json.n, last: $input.last().json.n,"
         " one: $json.n, two: $input.item.json.n }];"), "code",
         [{"all": 3, "first": 1, "last": 3, "one": 1, "two": 1}]),
        ("return { json: { a: 1 } };", "code", [{"a": 1}]),
        ("return [];", "code", []),
        ("const n = await Promise.resolve(4); return [{ json: { n } }];", "code", [{"n": 4}]),
        ("return [{ json: { t: '{{ not.a.template }}', o: `${{a: 1}.a}{%` } }];", "code",
         [{"t": "{{ not.a.template }}", "o": "1{%"}]),
        (("return [{ json: { before: $('Begin').first().json.rows.length,"
         " rows: $('Rows').all().length, old: $node['Rows'].json.n, third: $items('Rows')[2].json.n"
         " } }];"), "code", [{"before": 3, "rows": 3, "old": 1, "third": 3}]),
        (("return [{ json: { a: Buffer.from('äb').toString('base64'),"
         " b: Buffer.from('w6Ri', 'base64').toString(), c: Buffer.byteLength('ä'),"
         " d: Buffer.from('ff00', 'hex').toString('hex') } }];"), "code",
         [{"a": "w6Ri", "b": "äb", "c": 2, "d": "ff00"}]),
        (("const d = new Date('2024-03-05T15:04:09Z'), o = { year: 'numeric', month: 'long',"
         " day: 'numeric' };\nreturn [{ json: { a: d.toLocaleString(), b: d.toLocaleDateString("
         "'en-US'), c: d.toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit' }),"
         " d: d.toLocaleDateString('en-US', { weekday: 'short', year: 'numeric', month: 'long',"
         " day: 'numeric' }), e: (1234567.891).toLocaleString(), f: (0.5).toLocaleString("
         "undefined, { minimumFractionDigits: 2 }) } }];"), "code",
         [{"a": "3/5/2024, 3:04:09 PM", "b": "3/5/2024", "c": "03:04 PM",
           "d": "Tue, March 5, 2024", "e": "1,234,567.891", "f": "0.50"}]),
    ],
)  # fmt: skip
def test_a_program_with_all_items_returns_what_it_did(
    queue: World, source: str, kind: str, expected: Any
) -> None:
    assert run(queue, ROWS, program(source, kind)) == expected


@pytest.mark.parametrize(
    ("source", "more", "kind"),
    [
        ("return { json: { m: $json.n + $('Begin').first().json.rows.length } };",
         {"mode": "runOnceForEachItem"}, "code"),
        ("$input.item.json = { m: $input.item.json.n + 3 };\nreturn $input.item;",
         {"mode": "runOnceForEachItem"}, "code"),
        ("return { m: item.n + 3 };", {}, "functionItem"),
    ],
)  # fmt: skip
def test_a_program_for_each_item_returns_what_it_did(
    queue: World, source: str, more: Any, kind: str
) -> None:
    after = program("return items;") | {"name": "After"}
    found = run(queue, ROWS, program(source, kind, **more), after,
                output="tasks.after.output.result")  # fmt: skip

    assert found == [{"m": 4}, {"m": 5}, {"m": 6}]


def test_single_values_of_a_split_list_have_their_field(queue: World) -> None:
    names = node("Names", "splitOut", {"fieldToSplitOut": "names"}, 1)
    source = program("return items.map((item) => ({ json: { long: item.json.names.length } }));")

    assert run(queue, names, source, given={"names": ["ab", "c"]}) == [{"long": 2}, {"long": 1}]


def test_a_program_s_items_go_on_one_by_one(queue: World) -> None:
    value = {"name": "x", "value": "={{ $json.n + 1 }}"}
    after = node("After", "set", {"values": {"string": [value]}, "keepOnlySet": True})
    many = program("return [1, 2].map((n) => ({ json: { n } }));")

    assert run(queue, many, after, output="tasks.it_items.output") == [{"x": 2}, {"x": 3}]


def test_fields_that_earlier_nodes_added_are_handed_on(queue: World) -> None:
    value = {"name": "x", "value": "y"}
    put = node("Put", "set", {"values": {"string": [value]}})
    found = run(queue, put, program("return [{ json: { all: Object.keys($json).sort() } }];"))

    assert found == [{"all": ["rows", "x"]}]
