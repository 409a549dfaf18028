"""Run agents of Pydantic AI durably inside steps: recorded model and tool calls are not repeated.

    from valkyr_plugins.pydantic_agents import durable
    from valkyr_plugins.pydantic_agents.durability import ValkyrDurability

`durability` needs the package `pydantic-ai-slim` (the extra `pydantic-ai`); the rest does not.
"""

from typing import Any

__all__ = ["durable"]


def __getattr__(name: str) -> Any:
    # Imported on demand: the journal imports models, which are available only once Django has
    # loaded its apps.
    if name == "durable":
        from valkyr_plugins.pydantic_agents.journal import durable

        return durable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
