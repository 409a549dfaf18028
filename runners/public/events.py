"""Signals that tell what happened."""

from runners.events import segments_resent

__all__ = [
    "segments_resent",
]
