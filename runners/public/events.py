"""The signal that is sent when segments are sent again."""

from runners.events import segments_resent

__all__ = [
    "segments_resent",
]
