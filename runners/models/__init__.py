"""The tables of this app."""

from runners.models.run import Run
from runners.models.runner import Runner

__all__ = ["Run", "Runner"]
