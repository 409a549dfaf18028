"""The list of a stack's processes that end repeatedly.

The supervisor writes the file `<home>/failing.json`, which maps the name of a process to a
description of its last end. The health check `processes` (valkyr_project/up/stack_health.py) reads
the file.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from valkyr_project.embedded.folders import write_private

VARIABLE = "VALKYR_FAILING_FILE"
FILE = "failing.json"


def supervised() -> bool:
    """Return whether a supervisor of `make up` started this process."""
    return bool(os.environ.get(VARIABLE))


class FailingProcesses:
    """The supervisor's list of the processes that repeatedly end right after their start."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Begin with an empty list, in the file that the stack's environment names."""
        self._path = Path(environment[VARIABLE])
        self._endings: dict[str, str] = {}
        self._write()

    @property
    def names(self) -> set[str]:
        """Return the names of the processes in the list."""
        return set(self._endings)

    def add(self, name: str, ending: str) -> bool:
        """Add a process and a description of its last end; return whether it was not listed yet."""
        known = name in self._endings
        self._endings[name] = ending
        self._write()
        return not known

    def remove(self, name: str) -> None:
        """Remove a process from the list, because it now keeps running."""
        self._endings.pop(name, None)
        self._write()

    def _write(self) -> None:
        write_private(self._path, json.dumps(self._endings) + "\n")
