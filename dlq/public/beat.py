"""When beat last ran a duty."""

from dlq import pulse

__all__ = [
    "pulse",
]
