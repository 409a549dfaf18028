"""Files are listed by folder or pattern, deleted one by one, and read in parts and other
charsets.
"""

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.modules import registry
from runners.modules.base import StepError
from valkyr_plugins.connectors.files.listing import FilePattern


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "files"
    for name in ("b.txt", "a.csv", "deep/c.csv", "deep/er/d.csv"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (folder / "link").symlink_to(tmp_path)
    (folder / ".a.csv.0123.tmp").write_text("being written")
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(folder))
    return folder


@pytest.fixture
def run(step_context):
    return lambda module_type, **given: registry.get(module_type).run(given, step_context).outputs


@pytest.fixture
def paths(run):
    return lambda **given: [e["path"] for e in run("file.list", **given)["entries"]]


def test_a_folder_is_listed_in_order_without_links_and_what_is_being_written(root, paths):
    assert paths() == ["a.csv", "b.txt", "deep"]
    assert paths(path="./deep/") == ["deep/c.csv", "deep/er"]
    assert paths(recursive=True) == ["a.csv", "b.txt", "deep/c.csv", "deep/er/d.csv"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.csv", ["a.csv"]),
        ("**/*.csv", ["a.csv", "deep/c.csv", "deep/er/d.csv"]),
        ("*/*.csv", ["deep/c.csv"]),
        ("deep/**", ["deep/c.csv", "deep/er/d.csv"]),
        ("[ab].*", ["a.csv", "b.txt"]),
        ("nothing", []),
    ],
)
def test_a_pattern_is_seen_from_the_folder(root, paths, pattern, found):
    assert paths(pattern=pattern) == found


def test_an_entry_tells_its_size_and_time(root, run):
    os.utime(root / "a.csv", (0, 0))
    entries = run("file.list")["entries"]

    assert entries[0] == {
        "path": "a.csv",
        "kind": "file",
        "bytes": 5,
        "modified": "1970-01-01T00:00:00+00:00",
        "etag": None,
    }
    assert entries[2]["kind"] == "folder"


@given(st.text("a*?/", max_size=60), st.text("ab/", max_size=300))
def test_no_pattern_takes_long(pattern, path):
    if pattern.count("/") > 30:
        return
    FilePattern(pattern).matches(path)


def test_a_pattern_made_to_take_long_does_not():
    started = time.process_time()

    assert not FilePattern("**/" * 30 + "*a" * 100 + "b").matches("/".join(["a" * 200] * 200))

    assert time.process_time() - started < 5


def test_deleting_is_done_once_and_told(root, run):
    assert run("file.delete", path="a.csv") == {"path": "a.csv", "deleted": True}
    assert run("file.delete", path="a.csv") == {"path": "a.csv", "deleted": False}
    assert run("file.delete", path="no/where.txt", missingOk=True)["deleted"] is False


def test_deleting_a_link_leaves_what_it_points_to(root, run, tmp_path):
    assert run("file.delete", path="link")["deleted"] is True
    assert tmp_path.exists()


def test_a_range_and_another_charset_are_read(root, run):
    run("file.write", path="x", content="Grüße", charset="cp1252")

    assert run("file.read", path="x", charset="cp1252")["content"] == "Grüße"
    assert run("file.read", path="x", encoding="base64", start=2, length=2)["content"] == "/N8="
    assert run("file.read", path="x", start=2, length=1, charset="cp1252")["size"] == 5


def test_other_stores_open_where_an_administrator_names_them(monkeypatch, run, paths):
    with pytest.raises(StepError, match="not allowed here; allowed: local, s3"):
        run("file.read", path="memory://shop/a.txt")
    monkeypatch.setenv("VALKYR_FILE_SCHEMES", "memory,file")

    run("file.write", path="memory://shop/deep/a.txt", content="tea")

    assert run("file.read", path="memory://shop/deep/a.txt", start=1)["content"] == "ea"
    assert paths(path="memory://shop", recursive=True) == ["memory://shop/deep/a.txt"]
    assert paths(path="memory://shop") == ["memory://shop/deep"]
    assert run("file.delete", path="memory://shop/deep/a.txt")["deleted"] is True
    with pytest.raises(StepError, match="there is no file memory://shop/deep/a"):
        run("file.read", path="memory://shop/deep/a.txt")
    with pytest.raises(StepError, match="not supported"):
        run("file.read", path="file:///etc/passwd")
    with pytest.raises(StepError, match="'local', which is not allowed"):
        run("file.read", path="a.txt")
