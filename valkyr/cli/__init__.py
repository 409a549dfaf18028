"""The command `valkyr`: a thin client of the API, for people and for CI.

In the order of a call: `main` → `commands` (a module for each group) → `options` (which
installation is meant) → `connecting` → `client` (over HTTP, or `local` in this process) → `output`.
"""

from valkyr.cli.main import main

__all__ = ["main"]
