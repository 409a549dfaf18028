"""The pages' static files, collected once for everybody of a test session, its stacks too.

Who hands tests out to others (`-n`) makes the folder, and the others inherit its name: to compress
a thousand files takes six seconds of a processor.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

ROOT = "VALKYR_STATIC_ROOT"


def choose_root() -> None:
    """Name the folder in the environment; whoever makes it removes it at his end."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    folder = Path(tempfile.mkdtemp(prefix="valkyr-static-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "files"
    root.mkdir()
    os.environ[ROOT] = str(root)


def collect() -> None:
    """Fill the folder as `make up` does, unless it was filled; one process at a time."""
    from valkyr_project.up.prepare import static, static_is_current

    with Path(os.environ[ROOT]).with_name("lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not static_is_current(os.environ):
            static()


def collected() -> dict[str, str]:
    """What a stack's environment needs to find them and to collect none itself."""
    collect()
    return {ROOT: os.environ[ROOT]}
