"""Serializers and fields that show runs as the engine's own endpoints do."""

from runners.api.run_shapes import RunShape, RunSummary, VersionField

__all__ = [
    "RunShape",
    "RunSummary",
    "VersionField",
]
