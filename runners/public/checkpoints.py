"""Save the variables when the engine takes an automatic checkpoint."""

from runners.ports import take_checkpoint

__all__ = [
    "take_checkpoint",
]
