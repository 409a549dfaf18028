"""CSV files are read whole or in batches, in their encodings; errors name their position."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runners.modules import registry
from runners.modules.base import StepError
from tests.benchmarks import csv_rows

TEXT = 'id,note\n1,"two\nlines"\n2,"a ""b"", c"\n\n3,é\n'
ROWS = [
    {"id": "1", "note": "two\nlines"},
    {"id": "2", "note": 'a "b", c'},
    {"id": "3", "note": "é"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path))
    return tmp_path


def parse(context, **config):
    return registry.get("data.csv_parse").run(config, context).outputs


def in_batches(context, size, **config):
    cut = parse(context, batchSize=size, **config)
    return cut, [parse(context, batch=batch)["rows"] for batch in cut["batches"]]


def test_a_file_gives_the_rows_that_its_text_gives(folder, step_context):
    (folder / "a.csv").write_text(TEXT)

    assert parse(step_context, path="a.csv") == parse(step_context, text=TEXT)
    assert parse(step_context, path="a.csv")["rows"] == ROWS


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_batches_together_are_the_whole_file(size, folder, step_context):
    (folder / "a.csv").write_text(TEXT)

    cut, rows = in_batches(step_context, size, path="a.csv")

    assert [row for batch in rows for row in batch] == ROWS
    assert [batch["rows"] for batch in cut["batches"]] == [len(batch) for batch in rows]
    assert (cut["columns"], cut["count"]) == (["id", "note"], 3)


def test_batches_say_where_they_are(folder, step_context):
    (folder / "a.csv").write_text(TEXT)

    cut = parse(step_context, path="a.csv", batchSize=2)

    first, second = cut["batches"]
    data = (folder / "a.csv").read_bytes()
    assert data[first["start"] : first["end"]].startswith(b'1,"two\nlines"\n2,')
    assert data[second["start"] : second["end"]] == "\n3,é\n".encode()
    assert (first["firstRow"], second["firstRow"]) == (1, 3)
    assert (first["firstLine"], second["firstLine"]) == (2, 5)


fields = st.text(st.sampled_from('ab,";\n\r\té'), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.lists(fields, min_size=2, max_size=2), max_size=12),
    st.integers(1, 5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_is_quoted_is_cut_between_records(folder, make_context, rows, size, end):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    (folder / "a.csv").write_bytes(text.getvalue().encode())

    _, found = in_batches(make_context(), size, path="a.csv", header=False)

    assert [row for batch in found for row in batch] == rows
    assert all(len(batch) == size for batch in found[:-1])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "iso8859-15", "gb18030"])
def test_encodings_are_read_and_the_mark_left_out(encoding, folder, step_context):
    (folder / "a.csv").write_bytes("ä,b\né,ü\n".encode(encoding))

    given_encoding = "cp1252" if encoding == "utf-8-sig" else encoding
    cut, rows = in_batches(step_context, 1, path="a.csv", encoding=given_encoding)

    assert cut["columns"] == ["ä", "b"]
    assert rows == [[{"ä": "é", "b": "ü"}]]


@pytest.mark.parametrize(
    ("data", "config", "message"),
    [
        (b"a,b\n1,\xe9\n", {}, r"line 2 of the CSV is not utf-8: the byte 0xE9 at 6 does not fit"),
        (b"\xff\xfea\x00", {}, "is in UTF-16"),
        (b"a\n\x00\n", {}, r"line 2 of the CSV contains a NUL byte \(byte 2 of the file"),
        (b"a,b\n1,2\n3\n", {"batchSize": 1}, "line 3 of the CSV has 1 fields"),
        (b'a\n"' + b"x\n" * 100_000, {"batchSize": 1}, "Is a quote missing"),
        (b"a\n" + b"x" * 2_000_000, {"batchSize": 1}, "line 2 of the CSV is longer than 1,048,576"),
        (b"a\rb\r", {}, "a lone carriage return"),
        (b"a\n" + b"x" * 99 + b"\n" * 2, {"maxRows": 0}, "maxRows"),
        (b"a,b\n" + b"1,2\n" * 10_001, {"batchSize": 1}, "more than 10,000 batches"),
        (b"a\n" + (b"x" * 100_000 + b"\n") * 60, {}, "read it from a file in batches"),
    ],
)
def test_what_does_not_fit_is_named_by_its_place(data, config, message, folder, step_context):
    (folder / "a.csv").write_bytes(data)

    with pytest.raises(Exception, match=message):
        parse(step_context, path="a.csv", **config)


def test_a_mistake_in_a_batch_is_named_by_its_line_in_the_file(folder, step_context):
    (folder / "a.csv").write_bytes(b"a\n1\n2\n3\n4\n")
    batch = parse(step_context, path="a.csv", batchSize=2)["batches"][1]

    with pytest.raises(StepError, match="line 4 of the CSV has 1 fields, but there are 2"):
        parse(step_context, batch=batch | {"columns": ["a", "b"]})


def test_a_file_that_changed_is_not_read_by_old_ranges(folder, step_context):
    (folder / "a.csv").write_bytes(b"a\n1\n2\n")
    batch = parse(step_context, path="a.csv", batchSize=2)["batches"][0]
    (folder / "a.csv").write_bytes(b"a\n1\n2\n3\n")

    with pytest.raises(StepError, match="has changed since it was split into batches"):
        parse(step_context, batch=batch)


def test_long_rows_make_smaller_batches(folder, step_context):
    (folder / "a.csv").write_bytes(b"a\n" + (b"x" * 100_000 + b"\n") * 60)

    cut, rows = in_batches(step_context, 1_000, path="a.csv")

    assert sum(map(len, rows)) == cut["count"] == 60
    assert all(batch["end"] - batch["start"] < 3_000_000 for batch in cut["batches"])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a;b\n1,5;2\n", ["a", "b"]),
        ("a\tb\tc\n1\t2\t3\n", ["a", "b", "c"]),
        ("a|b\n1|2\n", ["a", "b"]),
        ('a,b\n"1;2",3\n', ["a", "b"]),
        ("alone\n1\n", ["alone"]),
        ("", []),
    ],
)
def test_the_delimiter_can_be_found_out(text, columns, step_context):
    assert parse(step_context, text=text, delimiter="auto")["columns"] == columns


def test_two_sources_are_told_when_publishing():
    (problem,) = registry.specs()["data.csv_parse"].check({"text": "a", "path": "b"})

    assert "exactly one of text, path, stored and batch" in problem.message


def test_a_hundred_thousand_rows_take_little_memory():
    found = csv_rows.measure(100_000)

    assert (found.rows, found.total, found.batches) == (100_000, 12 * 100_000, 10)
    assert found.peak_mib < csv_rows.MOST_MIB
