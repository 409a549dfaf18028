"""The documentation as a site, built as `make docs` builds it."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def built(into: Path, **environment: str) -> Path:
    """Return the folder with the site; fail with MkDocs' message if a link is broken."""
    done = build(PROJECT, into, **environment)
    assert done.returncode == 0, done.stderr + done.stdout
    return into


def build(project: Path, into: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Build the pages of a checkout; return the result with MkDocs' messages."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(into)],
        cwd=project,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def mermaid() -> Path | None:
    """Return the script that draws the diagrams; None if the npm registry does not answer."""
    done = subprocess.run(
        [str(PROJECT / ".ci" / "docs"), "mermaid"],
        env=os.environ | {"PY": sys.executable},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Path(done.stdout.strip()) if done.returncode == 0 else None
