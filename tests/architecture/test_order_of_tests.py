"""The files that `tests/conftest.py` names exist."""

import re
from pathlib import Path

from tests.conftest import LONGEST, STARTING, TOGETHER
from tests.support.long_tests import LONG

PROJECT = Path(__file__).parents[2]


def test_every_file_with_a_place_in_the_order_exists() -> None:
    named = {*STARTING, *LONGEST, *(name for group in TOGETHER for name in group)}

    assert [name for name in sorted(named) if not (PROJECT / name).exists()] == []


def test_every_long_test_exists() -> None:
    for name in LONG:
        file, _, function = name.partition("[")[0].partition("::")
        assert (PROJECT / file).exists(), name
        assert f"def {function}" in (PROJECT / file).read_text() if function else True, name


def test_ci_runs_every_test_that_is_marked_quiet() -> None:
    """CI runs every test that is marked quiet, because both halves leave these tests out."""
    command = re.search(
        r"^run -m quiet (.+)$", (PROJECT / ".ci" / "test").read_text(), re.MULTILINE
    )
    assert command
    marked = {
        file.relative_to(PROJECT).as_posix()
        for file in (PROJECT / "tests").rglob("test_*.py")
        if "pytest.mark.quiet" in file.read_text() and file != Path(__file__)
    }

    folders = tuple(f"{folder}/" for folder in command[1].split())
    assert [name for name in sorted(marked) if not name.startswith(folders)] == []
