"""Report which targets of steps have an open circuit."""

from runners.ports import open_circuits

__all__ = [
    "open_circuits",
]
