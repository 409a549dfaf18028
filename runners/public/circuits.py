"""Which targets of steps rest, whoever knows."""

from runners.ports import open_circuits

__all__ = [
    "open_circuits",
]
