"""Archives are packed in the same way each time, and unpacked only within their bounds and
folder.
"""

import base64
import io
import os
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.modules import registry
from runners.modules.base import Bad, StepError
from runners.segment.step_context import Context
from tests.plugins.connectors import files_with_trouble, hostile_archives
from tests.support.bad_inputs import check_row, rows
from valkyr_plugins.connectors.archives.safe_archive import Bounds, archive

TYPES = ["archive.zip", "archive.unzip"]
BOUNDS = Bounds(entries=100, bytes=100_000, ratio=200)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    root = tmp_path_factory.mktemp("archives") / "files"
    hostile_archives.lay_out(root)
    return root


@pytest.fixture
def root(hostile, monkeypatch):
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(hostile))
    return hostile


@pytest.fixture
def run(step_context):
    return lambda module_type, **given: registry.get(module_type).run(given, step_context).outputs


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="", types=TYPES))
def test_a_bad_input_is_told(root, module_type: str, bad: Bad, step_context: Context) -> None:
    check_row(module_type, bad, step_context)


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="archives", types=TYPES))
def test_a_hostile_archive_is_told_and_nothing_of_it_written(
    root, module_type: str, bad: Bad, step_context: Context
) -> None:
    before = sorted(root.rglob("*"))
    given = dict(bad.inputs())
    if given["path"] != "binary.zip":
        given["to"] = "unpacked"

    check_row(module_type, Bad(bad.what, given, bad.says), step_context)

    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="files", types=TYPES))
def test_trouble_in_the_folder_is_told(
    tmp_path, monkeypatch, module_type: str, bad: Bad, step_context: Context
) -> None:
    files_with_trouble.lay_out(tmp_path / "files")
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path / "files"))
    (tmp_path / "files" / "random.bin").write_bytes(os.urandom(4_000_000))

    check_row(module_type, bad, step_context)


def test_what_is_packed_is_unpacked(tmp_path, monkeypatch, run):
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Grüße")

    made = run("archive.zip", paths=["in/a.txt"], contents={"ü/b.txt": "b"}, to="out/x.zip")
    found = run("archive.unzip", path="out/x.zip", to="again")

    assert made["names"] == ["in/a.txt", "ü/b.txt"]
    assert made["content"] is None
    assert [entry["path"] for entry in found["entries"]] == ["again/in/a.txt", "again/ü/b.txt"]
    assert (tmp_path / "again" / "in" / "a.txt").read_text() == "Grüße"


def test_an_archive_goes_through_the_output_and_back(root, run):
    made = run("archive.zip", contents={"a": "AAE=", "b": ""}, encoding="base64")
    found = run("archive.unzip", content=made["content"], encoding="base64")

    assert [(entry["name"], entry["content"]) for entry in found["entries"]] == [
        ("a", "AAE="),
        ("b", ""),
    ]


def test_the_same_files_make_the_same_archive(root, run):
    first, again = (run("archive.zip", paths=["good.zip"], contents={"a": "b"}) for _ in "ab")

    assert first == again


def test_only_files_that_fit_are_taken(root, run):
    found = run("archive.unzip", path="good.zip", pattern="**/*.csv")

    assert [(entry["name"], entry["content"]) for entry in found["entries"]] == [
        ("deep/b.csv", "1,2\n")
    ]


def test_folders_can_be_left_behind(root, run):
    assert run("archive.zip", paths=["./good.zip"], folders=False)["names"] == ["good.zip"]


def test_a_name_without_a_charset_is_read_in_the_given_one(root, run):
    found = run("archive.unzip", path="names.zip", nameCharset="latin-1")

    assert [entry["name"] for entry in found["entries"]] == ["ÿ.txt"]


def test_an_archive_within_an_archive_stays_one(root, run):
    inner = run("archive.zip", contents={"a": "b"})["content"]
    outer = run("archive.zip", contents={"inner.zip": inner}, encoding="base64")["content"]

    (entry,) = run("archive.unzip", content=outer, encoding="base64")["entries"]

    assert zipfile.ZipFile(io.BytesIO(base64.b64decode(entry["content"]))).namelist() == ["a"]


@given(st.binary(max_size=400), st.integers(0, 200), st.binary(max_size=8))
def test_whatever_is_in_an_archive_it_opens_or_is_told(data, at, put):
    """Random bytes and manipulated archives are opened or rejected, without other effects."""
    good = hostile_archives.pack([("a.txt", data), ("b/c.txt", data[:7])])
    for tampered in (data, good[:at] + put + good[at + len(put) :]):
        try:
            with archive(tampered, BOUNDS) as found:
                size = sum(len(found.content(name)) for name in found.names)
        except StepError:
            continue
        assert size <= BOUNDS.bytes
