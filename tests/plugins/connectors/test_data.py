"""Tests of data modules: values, JMESPath, text, CSV and JSON Schema."""

import json
import time

import pytest
from pydantic import ValidationError

from runners.modules import registry
from runners.modules.base import Result, StepError
from valkyr_plugins.connectors.data.bounds import weight


def run(type_name, config, context):
    return registry.get(type_name).run(config, context)


def outputs(type_name, config, context):
    return run(type_name, config, context).outputs


def test_set_yields_its_values_as_they_are(step_context):
    values = {"a": None, "b": [{"c": 1.5}], "camelCase": "ö"}

    assert run("data.set", {"values": values}, step_context) == Result(values)


def test_set_refuses_keys_it_does_not_know(step_context):
    with pytest.raises(ValidationError, match="value\n"):
        run("data.set", {"value": {}}, step_context)


def test_jmespath_selects(step_context):
    config = {"expression": "orders[?total > `10`].id", "data": {"orders": [
        {"id": 1, "total": 5}, {"id": 2, "total": 50}]}}  # fmt: skip

    assert outputs("data.jmespath", config, step_context) == {"result": [2]}


def test_jmespath_yields_null_where_nothing_fits(step_context):
    assert outputs("data.jmespath", {"expression": "a.b", "data": 3}, step_context) == {
        "result": None
    }


def test_jmespath_names_an_expression_that_does_not_fit(step_context):
    with pytest.raises(StepError, match=r"'length\(@\)' does not fit the data"):
        run("data.jmespath", {"expression": "length(@)", "data": 3}, step_context)


@pytest.mark.parametrize(
    "value",
    [[[1]] * 10_000, [{"a": 1}] * 9, {"a": [], "b": {}, "c": ["ö", None, True, 1.5]}, [], {}],
)
def test_a_weight_is_never_more_than_the_json(value):
    size = len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())

    assert size / 2 <= weight(value) <= size


def test_jmespath_yields_what_is_hardly_smaller_than_the_limit(step_context):
    data = [[1]] * 1_250_000  # 5,000,001 bytes of JSON

    assert outputs("data.jmespath", {"expression": "@", "data": data}, step_context) == {
        "result": data
    }


def test_jmespath_is_parsed_when_publishing():
    config = {"expression": "a[", "data": "{{ previous }}"}

    (problem,) = registry.specs()["data.jmespath"].check(config)

    assert problem.pointer == ("expression",)
    assert "not a JMESPath expression" in problem.message


@pytest.mark.parametrize(
    ("value", "text"),
    [("Dear Ann", "Dear Ann"), ("", ""), (3, "3"), ({"a": "ö"}, '{"a": "ö"}'), (None, "null")],
)
def test_template_yields_text(value, text, step_context):
    assert outputs("data.template", {"text": value}, step_context) == {"text": text}


def test_csv_rows_are_named_by_the_header_and_stay_text(step_context):
    text = '\ufeffid, zip\r\n1,01067\r\n\r\n2,"a ""b"",\nc"\r\n'

    assert outputs("data.csv_parse", {"text": text}, step_context) == {
        "rows": [{"id": "1", "zip": "01067"}, {"id": "2", "zip": 'a "b",\nc'}],
        "columns": ["id", "zip"],
        "count": 2,
    }


def test_csv_without_header_gives_lists(step_context):
    config = {"text": "a;b\nc;d", "header": False, "delimiter": ";"}

    assert outputs("data.csv_parse", config, step_context) == {
        "rows": [["a", "b"], ["c", "d"]],
        "columns": [],
        "count": 2,
    }


def test_csv_columns_can_be_given(step_context):
    config = {"text": "1\t2", "header": ["x", "y"], "delimiter": "\t"}

    assert outputs("data.csv_parse", config, step_context)["rows"] == [{"x": "1", "y": "2"}]


def test_an_empty_csv_has_no_rows(step_context):
    assert outputs("data.csv_parse", {"text": ""}, step_context)["count"] == 0


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"text": "a,b\n1\n"}, r"line 2 of the CSV has 1 fields, but there are 2 columns \(a, b\)"),
        ({"text": "a,b\n1,2\n1,2,3\n"}, "line 3 of the CSV has 3 fields"),
        ({"text": "a,a\n"}, "names a column twice: a"),
        ({"text": 'a\n"1'}, "line 2 of the CSV cannot be read"),
        ({"text": "a\n1\n2\n3\n", "maxRows": 2}, "more than 2 rows"),
        ({"text": "a\n" + "x" * 200_000}, "field larger than field limit"),
    ],
)
def test_a_csv_that_does_not_fit_is_refused_with_its_line(config, message, step_context):
    with pytest.raises(StepError, match=message):
        run("data.csv_parse", config, step_context)


SCHEMA = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "integer"}, "mail": {"format": "email"}},
    "additionalProperties": False,
}


def test_data_that_fits_passes(step_context):
    config = {"data": {"id": 1, "mail": "a@b.example"}, "schema": SCHEMA}

    assert outputs("data.validate", config, step_context) == {"data": config["data"]}


def test_data_that_does_not_fit_fails_with_every_mistake(step_context):
    config = {"data": {"mail": "nobody", "more": 1}, "schema": SCHEMA}

    with pytest.raises(StepError, match="'id' is a required property") as caught:
        run("data.validate", config, step_context)

    errors = caught.value.details["errors"]
    assert sorted((error["field"], error["rule"]) for error in errors) == [
        ("(all)", "additionalProperties"),
        ("(all)", "required"),
        ("mail", "format"),
    ]


def test_a_schema_that_is_none_is_refused_when_publishing():
    config = {"data": "{{ input }}", "schema": {"properties": {"a": {"type": "text"}}}}

    (problem,) = registry.specs()["data.validate"].check(config)

    assert problem.pointer == ("schema",)
    assert "properties.a.type" in problem.message


def test_a_schema_downloads_nothing(step_context, partner):
    config = {"data": 1, "schema": {"$ref": f"{partner.url}/schema"}}

    with pytest.raises(StepError, match="has a reference to a missing definition"):
        run("data.validate", config, step_context)

    assert partner.received == []


def test_endless_references_fail_clearly(step_context):
    config = {"data": 1, "schema": {"$ref": "#"}}

    with pytest.raises(StepError, match="nested too deeply"):
        run("data.validate", config, step_context)


def test_many_mistakes_are_cut_off(step_context):
    config = {"data": ["x"] * 5000, "schema": {"items": {"type": "integer"}}}
    began = time.monotonic()

    with pytest.raises(StepError, match="and at least 95 more") as caught:
        run("data.validate", config, step_context)

    assert len(caught.value.details["errors"]) == 100
    assert time.monotonic() - began < 10
