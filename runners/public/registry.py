"""Register modules that a project's code declares, and list the types of known modules."""

from runners.modules.declared import declared as declared_modules
from runners.modules.registry import add as add_module
from runners.modules.registry import names as module_names

__all__ = [
    "add_module",
    "declared_modules",
    "module_names",
]
