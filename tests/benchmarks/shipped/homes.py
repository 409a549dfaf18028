"""A data folder for each stack: a copy of one in which a stack was started once, without work.

So each stack has a database with all tables, empty and never analysed, without waiting for it.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.shipped.stack import ShippedStack
from tests.benchmarks.talk import say


class Homes:
    """Creates the original folder when it is first needed."""

    def __init__(self, folder: Path, concurrency: int) -> None:
        self._folder = folder / "homes"
        self._concurrency = concurrency

    @contextmanager
    def fresh(self, name: str) -> Iterator[Path]:
        """Create a folder for one stack; remove it afterwards."""
        home = self._folder / name
        # With owners and modes: the servers may run under an account of their own.
        subprocess.run(("cp", "--archive", self._original(), home), check=True)
        try:
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)

    @contextmanager
    def started(self, name: str) -> Iterator[ShippedStack]:
        """Start a stack with empty tables; yield it when it is ready."""
        with self.fresh(name) as home, ShippedStack(home, self._concurrency) as stack:
            yield stack

    def _original(self) -> Path:
        home = self._folder / "original"
        if not home.exists():
            say("shipped: starting a stack for the first time, to copy its folder from then on")
            self._folder.mkdir(mode=0o711)
            with ShippedStack(home, self._concurrency):
                pass
            if (home / "postgres").is_symlink():
                raise RuntimeError(
                    f"{home} cannot be reached by the account that PostgreSQL runs under, so it "
                    "lies elsewhere and cannot be copied. Set TMPDIR to a folder others may pass."
                )
        return home
