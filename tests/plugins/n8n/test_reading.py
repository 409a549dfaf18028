"""The importer reads any n8n export, even a damaged one, or rejects it with a message."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest

from executions.definition.graph.problem import DefinitionError
from tests.plugins.n8n.exports import converted, export, node
from valkyr_plugins.n8n.export import MAX_BYTES, read_exports, read_text

ONE = export(node("It", "noOp"))


@pytest.mark.parametrize(
    "value",
    [ONE, [ONE], {"workflow": ONE}, {"data": [ONE]}, {"nodes": ONE["nodes"]}, ONE["nodes"],
     {"workflow": {"workflow": ONE}}],
)  # fmt: skip
def test_an_export_is_found_in_what_it_comes_in(value: Any) -> None:
    assert [one.nodes[0].name for one in read_exports(value)] == ["It"]


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, {"nodes": 1}, [1], {"tasks": []}])
def test_what_is_no_export_is_refused_in_words(value: Any) -> None:
    with pytest.raises(DefinitionError, match='expected an object with "nodes"'):
        read_exports(value)


@pytest.mark.parametrize(
    ("text", "code"),
    [("{", "syntax"), ("[" * 100_000, "syntax"), (" " * (MAX_BYTES + 1), "too_large"),
     (json.dumps({"nodes": [{"type": "a.b"}] * 2001}), "too_many_nodes")],
)  # fmt: skip
def test_a_text_that_cannot_be_taken_is_refused_with_a_code(text: str, code: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        read_text(text)

    assert [one.code for one in refused.value.problems] == [code]


def test_oddities_are_left_out_and_said() -> None:
    value = {
        "name": 7,
        "nodes": [None, {"type": "n8n-nodes-base.noOp", "position": "here", "parameters": []},
                  {"type": "n8n-nodes-base.noOp", "name": "a\x00b", "credentials": {"x": None}}],
        "connections": {"nobody": {"main": [[{"node": "noOp"}], None, 3]}, "noOp": {"main": {}}},
    }  # fmt: skip

    found = read_exports(value)[0]

    assert found.name == "Imported from n8n"
    assert [one.name for one in found.nodes] == ["noOp", "a\ufffdb"]
    assert len(found.remarks) == 2


def test_connections_may_name_nodes_by_their_ids() -> None:
    value = export(node("A", "noOp", id="1"), node("B", "noOp", id="2"), links=[("1", 0, "2")])

    assert [(one.source, one.target) for one in read_exports(value)[0].links] == [("A", "B")]


def test_names_given_twice_are_told_apart() -> None:
    found = read_exports(export(node("A", "noOp"), node("A", "noOp")))[0]

    assert [one.name for one in found.nodes] == ["A", "A (2)"]


def test_placeholders_give_way_where_the_definition_would_be_too_large() -> None:
    code = "x = 1\n" * 3000
    many = [node(f"Code {place}", "code", {"jsCode": code}) for place in range(100)]

    found = converted(export(*many))

    assert len(json.dumps(found.definition)) < 1_000_000
    assert len(found.definition["tasks"]) == 100


@pytest.mark.parametrize(
    "part", ["eyJ", '\\"', "\\'", "{{ ", "{{ '", "/*a", "={{ /*a", "Bearer ", "://a:", "?a="]
)
@pytest.mark.parametrize("before", ["", "={{ "])
def test_no_text_takes_long_to_read(part: str, before: str) -> None:
    field = {"name": "x", "value": before + part * (300_000 // len(part))}
    value = export(node("It", "set", {"values": {"string": [field]}}))
    began = time.process_time()

    with suppress(DefinitionError):  # its translation may be too large
        converted(value)

    assert time.process_time() - began < 2
