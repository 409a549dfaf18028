"""Mark a plugin's texts for translation."""

from executions.language import lazy

__all__ = ["lazy"]
