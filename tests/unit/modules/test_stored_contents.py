"""Modules that write and read stored contents, one by one, with the testing kit."""

import pytest

from runners.public.modules import StepContext, StoredContent, step
from runners.testing import content_of, run_module, stored_content

CSV = "id,name\n" + "".join(f"{n},name {n}\n" for n in range(1_000))


@step("test.copies_content")
def copies(ctx: StepContext, content: StoredContent) -> dict:
    """Copies a content in capitals."""
    with ctx.open_content(content) as file:
        return {"copy": ctx.store_content((line.upper() for line in file), media_type="text/csv")}


def test_a_function_reads_a_content_and_stores_another():
    ended = run_module(copies, {"content": stored_content(CSV.encode())})

    copy = ended.outputs["copy"]
    assert content_of(copy).decode() == CSV.upper()
    assert (copy["type"], copy["mediaType"], copy["bytes"]) == ("bytes", "text/csv", len(CSV))
    assert copy["preview"] == CSV.upper()[:80] + "…"


def test_a_content_that_is_binary_has_no_preview():
    assert stored_content(b"\xff\x00\x01")["preview"] == ""
    assert stored_content("ä".encode()[:1])["preview"] == ""


def test_a_content_holds_no_secret_of_the_step():
    @step("test.stores_a_secret", credential=("bearer",))
    def stores(ctx: StepContext) -> dict:
        """Stores a secret that two parts hold."""
        return {"body": ctx.store_content([b"begin s3cr3t-", b"t0ken end ", b"s3cr3t-t0ke"])}

    ended = run_module(stores, credential={"token": "s3cr3t-t0ken"})

    assert content_of(ended.outputs["body"]) == b"begin [secret:test.token] end s3cr3t-t0ke"


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
