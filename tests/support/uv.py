"""uv, which builds, resolves and installs packages; it needs a package index on the network."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
UNREACHABLE = ("error sending request", "dns error", "timed out", "Could not connect", "offline")


def uv(*arguments: str | Path, given: str | None = None) -> str:
    """Run uv and return its output; fail with its errors."""
    done = _run(*arguments, given=given)
    assert done.returncode == 0, f"uv {' '.join(map(str, arguments))}\n{done.stderr[-3000:]}"
    return done.stdout


def index_or_skip() -> None:
    """Skip the test if no package index answers; in CI, fail."""
    if said := _why_unreachable():
        if os.environ.get("CI"):
            pytest.fail(f"the package index does not answer: {said}")
        pytest.skip("the package index does not answer")


def closure(*requirements: str | Path) -> dict[str, str]:
    """Return names and versions of all resolved requirements, from wheels only.

    A path is a pyproject.toml.
    """
    texts = [one for one in requirements if isinstance(one, str)]
    others = [one for one in requirements if one not in texts]
    told = uv(
        "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--only-binary=:all:",
        "--python-version", "3.11",
        *others, *(["-"] if texts else []),
        given="\n".join(texts),
    )  # fmt: skip
    lines = [line.partition(";")[0].split("==") for line in told.splitlines() if "==" in line]
    return {name.partition("[")[0]: version.strip() for name, version in lines}


@cache
def _why_unreachable() -> str:
    done = _run("pip", "compile", "--quiet", "--no-header", "-", given="hatchling")
    return done.stderr if any(sign in done.stderr for sign in UNREACHABLE) else ""


def _run(*arguments: str | Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "uv", *map(str, arguments)],
        cwd=PROJECT,
        input=given,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
