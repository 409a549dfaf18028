"""Programs that must succeed: their output, or a failure with all of it."""

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
    """Run it to its end; return its output.

    `environment` is the whole of it, by default the caller's.
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
