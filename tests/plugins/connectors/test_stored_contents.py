"""Tests of connectors' modules that write and read stored content, with the testing kit."""

import pytest

from runners.testing import content_of, run_module, stored_content

CSV = "id,name\n" + "".join(f"{n},name {n}\n" for n in range(1_000))


def test_a_stored_csv_is_split_into_batches_that_are_read():
    content = stored_content(CSV.encode(), "text/csv")

    split = run_module("data.csv_parse", {"stored": content, "batchSize": 300}).outputs
    rows = [
        row
        for batch in split["batches"]
        for row in run_module("data.csv_parse", {"batch": batch}).outputs["rows"]
    ]

    assert (split["count"], len(split["batches"])) == (1_000, 4)
    assert rows == [{"id": str(n), "name": f"name {n}"} for n in range(1_000)]
    assert run_module("data.csv_parse", {"stored": content}).outputs["rows"] == rows


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path))
    return tmp_path


def test_a_content_is_written_to_a_file_and_read_from_it(folder):
    data = bytes(range(256)) * 40_000
    given = {"path": "a.bin", "content": stored_content(data)}

    written = run_module("file.write", given).outputs
    found = run_module("file.read", {"path": "a.bin", "store": True, "maxBytes": 20_000_000})
    some = run_module("file.read", {"path": "a.bin", "store": True, "start": 5, "length": 7})

    assert written["bytes"] == len(data)
    assert content_of(found.outputs["content"]) == data == (folder / "a.bin").read_bytes()
    assert found.outputs["bytes"] == found.outputs["size"] == len(data)
    assert content_of(some.outputs["content"]) == data[5:12]


def test_a_content_is_created_once(folder):
    given = {"path": "a", "content": stored_content(b"x" * 10), "mode": "create"}
    assert run_module("file.write", given).outputs["bytes"] == 10
    assert run_module("file.write", given).outputs["bytes"] == 10

    for other in (b"x" * 9, b"y" * 10, b"x" * 11):
        with pytest.raises(Exception, match="already exists with different content"):
            run_module("file.write", given | {"content": stored_content(other)})
