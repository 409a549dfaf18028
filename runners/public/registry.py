"""Register modules that a project declares in its own code; name those that apps declare."""

from runners.modules.declared import declared as declared_modules
from runners.modules.registry import add as add_module
from runners.modules.registry import names as module_names

__all__ = [
    "add_module",
    "declared_modules",
    "module_names",
]
