"""Tests of JSON, XML and CSV: parsing and writing."""

import csv
import io

import pytest

from runners.modules import registry
from runners.modules.base import StepError


def run(type_name, context, **config):
    return registry.get(type_name).run(config, context).outputs


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": [1, 2.5, null, true, "ö"]}', {"a": [1, 2.5, None, True, "ö"]}),
        ("\ufeff[]", []),
        (' "x" ', "x"),
        (r'"\ud83c\udf75"', "🍵"),
        (r'"\\u0000"', r"\u0000"),
        ("[" * 256 + "]" * 256, None),
        ('"' + "[" * 1_000 + '"', "[" * 1_000),
    ],
)
def test_json_is_read(text, data, step_context):
    found = run("data.json_parse", step_context, text=text)["data"]

    assert data is None or found == data


def test_compact_json_below_the_limit_is_read_with_escaped_characters(step_context):
    text = "[" + "1," * 2_000_000 + r'"\ud83d\ude00"]'

    found = run("data.json_parse", step_context, text=text)["data"]

    assert found[-1] == "😀"
    assert len(found) == 2_000_001


def test_json_lines_are_a_list(step_context):
    text = '{"a": 1}\r\n\n{"a": "x\u2028y"}\n'

    assert run("data.json_parse", step_context, text=text, lines=True) == {
        "data": [{"a": 1}, {"a": "x\u2028y"}]
    }


def test_xml_becomes_objects_and_lists(step_context):
    text = '<?xml version="1.0" encoding="latin-1"?><o id="1"><i>tea</i><e/><t k="ö">x</t></o>'

    assert run("data.xml_parse", step_context, text=text, lists=["i"]) == {
        "data": {"o": {"@id": "1", "i": ["tea"], "e": None, "t": {"@k": "ö", "#text": "x"}}}
    }


def test_xml_keeps_namespaces_as_written_unless_they_are_named(step_context):
    text = '<x:a xmlns:x="urn:x"><x:b>1</x:b></x:a>'

    assert run("data.xml_parse", step_context, text=text)["data"]["x:a"]["x:b"] == "1"
    named = run("data.xml_parse", step_context, text=text, namespaces={"urn:x": ""})
    assert named["data"]["a"]["b"] == "1"


def test_xml_with_a_plain_doctype_is_read(step_context):
    text = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://127.0.0.1:9/x.dtd"><html/>'

    assert run("data.xml_parse", step_context, text=text) == {"data": {"html": None}}


def test_csv_is_written_as_rfc_4180_has_it(step_context):
    rows = [
        {"id": 1, "note": 'two\n"lines"'},
        {"id": 2.5, "more": [1, {"a": "ö"}]},
        {"note": True},
    ]

    assert run("data.csv_write", step_context, rows=rows) == {
        "text": 'id,note,more\r\n1,"two\n""lines""",\r\n2.5,,"[1, {""a"": ""ö""}]"\r\n,true,\r\n',
        "bytes": 71,
        "columns": ["id", "note", "more"],
        "count": 3,
    }


def test_csv_can_be_lists_columns_and_without_header(step_context):
    config = {"columns": ["b", "a"], "delimiter": ";", "lineEnd": "lf", "quoteAll": True}
    written = run("data.csv_write", step_context, rows=[{"a": 1, "b": 2, "c": 3}], **config)
    lists = run("data.csv_write", step_context, rows=[[1, None], ["x", 2]], header=False)

    assert written["text"] == '"b";"a"\n"2";"1"\n'
    assert lists["text"] == "1,\r\nx,2\r\n"


FORMULAS = [
    '=HYPERLINK("http://127.0.0.1")',
    "+SUM(A1)",
    "-1+cmd|' /C calc'!A0",
    "@SUM",
    "\t=1",
    "\uff1d1",
]
HARMLESS = ["-12.50", "+49 30 123", "-1.234,50", "1e-5", "-5%", "a=b", "", "O'Neill"]


def first_cell(text):
    return next(csv.reader(io.StringIO(text, newline="")))[0]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_is_made_text(text, step_context):
    escaped = run("data.csv_write", step_context, rows=[[text]], header=False)
    kept = run("data.csv_write", step_context, rows=[[text]], header=False, formulas="keep")

    assert first_cell(escaped["text"]) == f"'{text}"
    assert first_cell(kept["text"]) == text
    with pytest.raises(StepError, match="runs as a formula"):
        run("data.csv_write", step_context, rows=[{text: 1}], formulas="refuse")


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_plain_texts_stay_as_they_are(text, step_context):
    written = run("data.csv_write", step_context, rows=[[text, 1]], header=False)

    assert first_cell(written["text"]) == text


def test_csv_is_written_to_a_file_and_read_back(step_context, tmp_path, monkeypatch):
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path))
    rows = [{"name": "Zoë", "zip": "01067"}]

    written = run("data.csv_write", step_context, rows=rows, path="out/a.csv", encoding="cp1252")

    data = (tmp_path / "out" / "a.csv").read_bytes()
    assert data == b"name,zip\r\nZo\xeb,01067\r\n"
    assert written == {"path": "out/a.csv", "bytes": 21, "columns": ["name", "zip"], "count": 1}
    read = run("data.csv_parse", step_context, path="out/a.csv", encoding="cp1252")
    assert read["rows"] == rows


def test_excel_knows_utf_8_by_its_mark(step_context):
    written = run("data.csv_write", step_context, rows=[{"ä": 1}], byteOrderMark=True)

    assert written["text"].encode() == b"\xef\xbb\xbf\xc3\xa4\r\n1\r\n"
