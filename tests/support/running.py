"""Programs that must succeed: a test gets their output, or fails with all of it."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.stack import PROJECT


def output_of(
    command: Sequence[str],
    *,
    folder: Path = PROJECT,
    environment: Mapping[str, str] | None = None,
    seconds: float = 120,
) -> str:
    """Run a program to its end; return its output.

    `environment` is the complete environment, by default the caller's.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
