"""Signals for the events of runs."""

from runners.events import segments_resent

__all__ = [
    "segments_resent",
]
