"""Temporary folders that the servers' account may enter (pytest's own are only root's)."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def passable_folder(below: str = "") -> Iterator[Path]:
    """A folder `below` a fresh temporary one, removed at the end."""
    top = Path(tempfile.mkdtemp(prefix="valkyr-folder-"))
    top.chmod(0o711)
    folder = top / below
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(top, ignore_errors=True)
