"""Temporary folders that the servers' account may enter (only root may enter pytest's own)."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def passable_folder(below: str = "") -> Iterator[Path]:
    """Create a folder `below` a new temporary one; remove it at the end."""
    top = Path(tempfile.mkdtemp(prefix="valkyr-folder-"))
    top.chmod(0o711)
    folder = top / below
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(top, ignore_errors=True)
