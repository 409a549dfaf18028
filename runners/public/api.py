"""Show runs like the engine's own endpoints."""

from runners.api.run_shapes import RunShape, RunSummary, VersionField

__all__ = [
    "RunShape",
    "RunSummary",
    "VersionField",
]
