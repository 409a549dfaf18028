"""The wheel, built once per session, and environments with only it and its requirements."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.uv import PROJECT, index_or_skip, uv


class Environment(NamedTuple):
    """A virtual environment; its processes do not see this project's folder."""

    folder: Path

    @property
    def python(self) -> str:
        """The path of the environment's interpreter."""
        return str(self.folder / "bin" / "python")

    def run(self, *command: str, cwd: Path, **named: str) -> subprocess.CompletedProcess[str]:
        """Run `python <command>` in the environment."""
        return subprocess.run(
            [self.python, *command],
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "HOME": str(cwd), **named},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@cache
def built() -> Path:
    """Return the folder with the sdist and the wheel; the wheel is built from the sdist, as an
    installer does.
    """
    index_or_skip()
    folder = Path(tempfile.mkdtemp(prefix="valkyr-wheel-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    uv("build", "--quiet", "--sdist", "--out-dir", folder, PROJECT)
    (sdist,) = folder.glob("*.tar.gz")
    uv("build", "--quiet", "--wheel", "--out-dir", folder, sdist)
    return folder


def wheel() -> Path:
    """Return the path of the wheel."""
    (found,) = built().glob("*.whl")
    return found


def environment_with(folder: Path, *others: str, python: str = sys.executable) -> Environment:
    """Create a virtual environment with the wheel and other packages, all of them from wheels."""
    made = Environment(folder / "venv")
    uv("venv", "--quiet", "--python", python, made.folder)
    into = ("--python", made.python, "--only-binary=:all:")
    uv("pip", "install", "--quiet", *into, wheel(), *others)
    return made


def lowest() -> list[str]:
    """Return the oldest release of each dependency that the wheel allows."""
    options = ("--resolution", "lowest-direct", "--only-binary=:all:", "--python-version", "3.11")
    told = uv(
        "pip", "compile", "--quiet", "--no-header", "--no-annotate", *options, "pyproject.toml"
    )
    return told.splitlines()


def newest_python() -> str:
    """Return the newest interpreter: from the PATH, from pyenv, or installed by uv."""
    for minor in (14, 13, 12):
        if found := shutil.which(f"python3.{minor}"):
            done = subprocess.run([found, "--version"], capture_output=True, check=False)
            if done.returncode == 0:
                return found
        kept = [
            *Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"),
            *Path.home().glob(f".local/share/uv/python/cpython-3.{minor}.*/bin/python3"),
        ]
        if kept:
            return str(max(kept))
    return sys.executable
