"""Convert each kind of node: one file per family."""

from valkyr_plugins.n8n.families import (
    agents,
    choices,
    data,
    databases,
    files,
    flow,
    http,
    lists,
    messages,
    models,
    programs,
    services,
)

__all__ = [
    "agents",
    "choices",
    "data",
    "databases",
    "files",
    "flow",
    "http",
    "lists",
    "messages",
    "models",
    "programs",
    "services",
]
