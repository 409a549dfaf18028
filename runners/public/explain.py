"""Explain why runs are held."""

from executions.explain.reason import Reason, at, brief, iso, sentence
from runners.explain.holds import HOLDS, HeldRuns

__all__ = [
    "HOLDS",
    "HeldRuns",
    "Reason",
    "at",
    "brief",
    "iso",
    "sentence",
]
