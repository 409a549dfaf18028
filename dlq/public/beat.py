"""When beat last ticked."""

from dlq import pulse

__all__ = [
    "pulse",
]
