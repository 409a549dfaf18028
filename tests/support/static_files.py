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

from whitenoise.base import WhiteNoise

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


def list_once() -> None:
    """Let all test clients of this process share one list of the files, which are complete.

    A client makes its own middleware, and that one looks at all of a thousand files: more work
    than most requests of a test.
    """
    kept: dict[tuple[str, str, int | None], dict[str, object]] = {}
    look = WhiteNoise.update_files_dictionary

    def update(self: WhiteNoise, root: str, prefix: str) -> None:
        asked = (root, prefix, self.max_age)
        if asked not in kept:
            look(self, root, prefix)
            kept[asked] = dict(self.files)
        self.files.update(kept[asked])

    WhiteNoise.update_files_dictionary = update


def collected() -> dict[str, str]:
    """What a stack's environment needs to find them and to collect none itself."""
    collect()
    return {ROOT: os.environ[ROOT]}
