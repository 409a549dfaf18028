"""Report the targets that steps call and whose circuit is open."""

from runners.ports import open_circuits

__all__ = [
    "open_circuits",
]
