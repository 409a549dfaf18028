"""Keep the variables where the engine takes a checkpoint by itself."""

from runners.ports import take_checkpoint

__all__ = [
    "take_checkpoint",
]
