"""Register modules that a project declares in its own code."""

from runners.modules.registry import add as add_module
from runners.modules.registry import names as module_names

__all__ = [
    "add_module",
    "module_names",
]
