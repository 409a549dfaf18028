"""File steps read and write complete files, only inside their folder."""

import base64
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from runners.modules import registry
from runners.modules.base import StepError


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(folder))
    return folder


def names_in(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def read(step_context):
    return lambda path, **more: (
        registry.get("file.read").run({"path": path, **more}, step_context).outputs
    )


@pytest.fixture
def write(step_context):
    return lambda path, content, **more: (
        registry.get("file.write")
        .run({"path": path, "content": content, **more}, step_context)
        .outputs
    )


def test_what_is_written_can_be_read(root, read, write):
    written = write("a/b/c.txt", "Grüße\n")
    found = read("a/b/c.txt")

    assert (written["path"], written["bytes"]) == ("a/b/c.txt", 8)
    assert (found["path"], found["content"]) == ("a/b/c.txt", "Grüße\n")
    assert (found["bytes"], found["size"]) == (8, 8)
    assert datetime.fromisoformat(found["modified"]).tzinfo is not None
    assert (root / "a/b/c.txt").read_text() == "Grüße\n"


def test_any_bytes_go_through_base64(root, read, write):
    packed = base64.b64encode(bytes(range(256))).decode()

    write("x.bin", packed, encoding="base64")

    assert (root / "x.bin").read_bytes() == bytes(range(256))
    assert read("x.bin", encoding="base64")["content"] == packed


def test_overwriting_leaves_only_the_new_file(root, write):
    write("a.txt", "old and long")
    write("a.txt", "new")

    assert (root / "a.txt").read_text() == "new"
    assert names_in(root) == ["a.txt"]


def test_readers_see_a_whole_file_while_it_is_overwritten(root, read, write):
    write("a.txt", "0" * 200_000)

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, "a.txt", str(n) * 200_000) for n in range(10)]
        seen = [read("a.txt")["content"] for _ in range(50)]
        for future in writing:
            future.result()

    assert {(len(text), len(set(text))) for text in seen} == {(200_000, 1)}


def test_creating_refuses_another_file_but_not_its_own(root, write):
    write("a.txt", "mine", mode="create")
    write("a.txt", "mine", mode="create")

    with pytest.raises(StepError, match=r"'a\.txt' already exists with different content"):
        write("a.txt", "other", mode="create")
    assert names_in(root) == ["a.txt"]


def test_appended_lines_of_several_steps_do_not_mix(root, write):
    with ThreadPoolExecutor(8) as pool:
        for future in [
            pool.submit(write, "log.txt", f"{n % 10}" * 9_999 + "\n", mode="append")
            for n in range(40)
        ]:
            future.result()

    lines = (root / "log.txt").read_text().splitlines()
    assert len(lines) == 40
    assert all(len(line) == 9_999 and len(set(line)) == 1 for line in lines)


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "a/../../secret.txt", "/etc/passwd", "..", "", ".", "a\x00b", "..\\secret"],
)
def test_paths_that_lead_outside_are_refused(root, read, write, path):
    with pytest.raises(StepError, match="path"):
        read(path)
    with pytest.raises(StepError, match="path"):
        write(path, "x")


def test_symbolic_links_are_not_followed(root, read, write, tmp_path):
    (root / "file").symlink_to(tmp_path / "secret.txt")
    (root / "folder").symlink_to(tmp_path)
    (root / "up").symlink_to("..")

    for path in ("file", "folder/secret.txt", "up/secret.txt"):
        with pytest.raises(StepError, match="symbolic links are not followed"):
            read(path)
    for path in ("folder/new.txt", "up/new.txt"):
        with pytest.raises(StepError, match="symbolic links are not followed"):
            write(path, "x")
    with pytest.raises(StepError):
        write("file", "x", mode="append")
    write("file", "x")

    # Overwriting put a file in the link's place; its target is unchanged.
    assert (tmp_path / "secret.txt").read_text() == "secret"
    assert not (root / "file").is_symlink()
    assert not (tmp_path / "new.txt").exists()


def test_pipes_and_folders_are_no_files(root, read, write):
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()

    with pytest.raises(StepError, match="not a regular file"):
        read("pipe")
    for action in (lambda: read("folder"), lambda: write("folder", "x")):
        with pytest.raises(StepError, match="folder"):
            action()
    assert names_in(root) == ["folder", "pipe"]


@pytest.mark.parametrize("path", ["none.txt", "no/folder/none.txt"])
def test_a_missing_file_is_named(root, read, path):
    with pytest.raises(StepError, match=r"none\.txt"):
        read(path)


def test_a_file_past_the_cap_is_refused(root, read, write):
    write("a.txt", "x" * 11)

    with pytest.raises(StepError, match="more than 10 bytes"):
        read("a.txt", maxBytes=10)


def test_a_file_that_is_no_text_is_named(root, read):
    (root / "x.bin").write_bytes(b"ab\xff")

    with pytest.raises(StepError, match=r"'x.bin' is not UTF-8 text \(byte 2\)"):
        read("x.bin")


@pytest.mark.parametrize(("content", "encoding"), [("no base64!", "base64"), ("\ud800", "text")])
def test_content_that_cannot_be_written_is_refused(root, write, content, encoding):
    with pytest.raises(StepError, match="content is not"):
        write("a.txt", content, encoding=encoding)


def test_file_steps_are_off_until_an_administrator_names_a_folder(monkeypatch, read):
    monkeypatch.delenv("VALKYR_FILES_ROOT", raising=False)

    with pytest.raises(StepError, match="VALKYR_FILES_ROOT"):
        read("a.txt")
