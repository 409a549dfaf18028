"""A type checker without plugins reads a workflow as an ordinary function."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
WRONG = Path(__file__).with_name("wrong_wiring.py")
CONFIG = "[mypy]\nstrict = True\nfollow_imports = silent\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the output of one run of `mypy --strict` over every example and the wrong program."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "mypy.ini").write_text(CONFIG)
    for path in (PROJECT / "examples").glob("*/workflow.py"):
        (folder / f"{path.parent.name.replace('-', '_')}.py").write_text(path.read_text())
    (folder / WRONG.name).write_text(WRONG.read_text())
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "."]
    done = subprocess.run(
        command,
        cwd=folder,
        env={"MYPYPATH": str(PROJECT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_every_example_is_typed(told: str) -> None:
    other = [line for line in told.splitlines() if ": error:" in line and WRONG.name not in line]

    assert other == []


def test_wrong_wiring_is_found_where_it_is(told: str) -> None:
    found = {int(one) for one in re.findall(rf"{WRONG.name}:(\d+): error:", told)}
    lines = WRONG.read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if "# WRONG" in line}

    assert found == marked
