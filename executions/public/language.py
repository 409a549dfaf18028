"""Mark texts of a plugin for translation."""

from executions.language import lazy

__all__ = ["lazy"]
