"""One wheel, built once, and one environment with nothing but it."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.packaging.uv import PROJECT, index_or_skip, uv


class Environment(NamedTuple):
    """A virtual environment; its processes know nothing of this project's folder."""

    folder: Path

    def run(self, *command: str, cwd: Path, **named: str) -> subprocess.CompletedProcess[str]:
        """Run `python <command>` in it."""
        return subprocess.run(
            [str(self.folder / "bin" / "python"), *command],
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "HOME": str(cwd), **named},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the sdist."""
    index_or_skip()
    folder = tmp_path_factory.mktemp("built")
    uv("build", "--quiet", "--sdist", "--out-dir", folder, PROJECT)
    # From the sdist, as an installer that is given one does.
    (sdist,) = folder.glob("*.tar.gz")
    uv("build", "--quiet", "--wheel", "--out-dir", folder, sdist)
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    """The wheel, made of the sdist."""
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel and what it needs, without an extra, all of it from wheels."""
    made = Environment(tmp_path_factory.mktemp("environment") / "venv")
    uv("venv", "--quiet", made.folder)
    python = made.folder / "bin" / "python"
    uv("pip", "install", "--quiet", "--python", python, "--only-binary=:all:", wheel)
    return made
