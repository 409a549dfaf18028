"""Archive in a process that stops at a named point, so that a test can kill it there.

`python -m tests.support.stopped_archiver POINT` prints the point when it has reached it, and then
waits until it is killed.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

ARCHIVE = "valkyr_plugins.archive"


@dataclass(frozen=True, slots=True)
class Point:
    """A point before or after the n-th call of a function or method."""

    module: str
    name: str
    after: bool = True
    number: int = 1


# In the order in which a turn reaches them, if it finds an execution that was reopened after it
# was archived.
POINTS: dict[str, Point] = {
    "the file has a row": Point(f"{ARCHIVE}.writing", "begin"),
    "an execution is in the local file": Point(f"{ARCHIVE}.writing", "FileWriter.add"),
    "the local file is complete": Point(f"{ARCHIVE}.writing", "_recount"),
    "the stored file has no name yet": Point("pathlib", "Path.replace", after=False),
    "the file is stored": Point(f"{ARCHIVE}.storage", "store"),
    "the file was read back": Point(f"{ARCHIVE}.storage", "digest"),
    "the index is not committed": Point(f"{ARCHIVE}.writing", "_index"),
    "the index is committed": Point(f"{ARCHIVE}.writing", "publish"),
    "the older file is read": Point(f"{ARCHIVE}.archiving", "rewrite", after=False),
    "its replacement is stored": Point(f"{ARCHIVE}.storage", "store", number=2),
    "the index of its replacement is not committed": Point(
        f"{ARCHIVE}.writing", "_index", number=2
    ),
    "its replacement is committed": Point(f"{ARCHIVE}.archiving", "rewrite"),
    "the older file is removed": Point(f"{ARCHIVE}.storage", "remove"),
}


def main(name: str) -> None:
    """Archive what is due, up to the point."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
    django.setup()
    from valkyr_plugins.archive import archiving

    _stop_at(name, POINTS[name])
    archiving.turn()
    sys.exit(f"the turn ended without reaching the point: {name}")


def _stop_at(name: str, point: Point) -> None:
    *path, function = point.name.split(".")
    holder: Any = import_module(point.module)
    for part in path:
        holder = getattr(holder, part)
    setattr(holder, function, _stopping(getattr(holder, function), name, point))


def _stopping(function: Callable[..., Any], name: str, point: Point) -> Callable[..., Any]:
    calls = 0

    def call(*args: Any, **values: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == point.number and not point.after:
            _wait(name)
        result = function(*args, **values)
        if calls == point.number:
            _wait(name)
        return result

    return call


def _wait(name: str) -> None:
    print(name, flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1])
