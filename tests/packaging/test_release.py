"""The files of a release are the same for every builder."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.support.uv import PROJECT, index_or_skip
from tools import release


def archive(folder: Path, text: str, level: int = 6) -> dict[str, Path]:
    folder.mkdir()
    path = folder / "some-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in (("__init__", "1\n" * 1_000), ("made", text)):
            entry = zipfile.ZipInfo(f"some/{name}.py")
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED, level)
    return {path.name: path}


def test_what_differs_in_two_builds_is_named(tmp_path: Path) -> None:
    first = archive(tmp_path / "a", "at 12:00")
    second = archive(tmp_path / "b", "at 12:01")

    assert release.different(first, first) == []
    assert release.different(first, second) == ["some-1.0-py3-none-any.whl: some/made.py"]
    assert release.different(first, {}) == ["some-1.0-py3-none-any.whl: only one build has it"]


def test_another_compression_is_told_from_another_content(tmp_path: Path) -> None:
    first = archive(tmp_path / "a", "equal" * 500, level=0)
    second = archive(tmp_path / "b", "equal" * 500, level=9)

    [line] = release.different(first, second)

    assert "the same contents, packed otherwise" in line


@pytest.mark.network
def test_two_builds_of_a_commit_are_equal_and_have_checksums(tmp_path: Path) -> None:
    index_or_skip()
    made = release.build("HEAD", tmp_path / "dist")

    version = release.version_of("HEAD")
    names = [path.name for path in made]
    assert sorted(names) == [
        "SHA256SUMS",
        f"valkyr-{version}-py3-none-any.whl",
        f"valkyr-{version}.cdx.json",
        f"valkyr-{version}.tar.gz",
    ]
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    subprocess.run(check, cwd=tmp_path / "dist", check=True, capture_output=True)


def test_a_tag_of_another_version_is_refused() -> None:
    done = subprocess.run(
        [PROJECT / ".venv/bin/python", "-m", "tools.release", "--tag", "v0.0.0"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "The tag is v0.0.0, but valkyr.__version__ is" in done.stderr
