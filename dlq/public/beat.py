"""Read when beat last ran its duties."""

from dlq import pulse

__all__ = [
    "pulse",
]
