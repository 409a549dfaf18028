"""The `valkyr` command: a thin API client for people and for CI.

Call order: `main` → `commands` (a module for each group) → `options` (which installation to call) →
`connecting` → `client` (over HTTP, or `local` in this process) → `output`.
"""

from valkyr.cli.main import main

__all__ = ["main"]
