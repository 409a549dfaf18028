"""Find steps and workflows in the project's apps, and register the steps for workflows."""

from django.utils.module_loading import autodiscover_modules

from runners.public.modules import DECORATED
from runners.public.registry import add_module


def discover() -> None:
    """Import `steps` and `workflows` of each installed app; register the steps for workflows."""
    autodiscover_modules("steps", "workflows")
    register_steps()


def register_steps() -> None:
    """Register every step that this process has declared.

    Raises ValueError if two steps have the same type; the message names both.
    """
    for step in DECORATED:
        add_module(step.__valkyr_module__)
