"""Register modules that a project declares in its own code."""

from runners.modules.registry import add as add_module

__all__ = [
    "add_module",
]
