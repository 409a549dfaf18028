"""Signals that tell what happened."""

from runners.events import budget_reached, circuit_opened

__all__ = [
    "budget_reached",
    "circuit_opened",
]
