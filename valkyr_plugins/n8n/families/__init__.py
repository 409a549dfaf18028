"""Convert each kind of node: one file per family."""

from valkyr_plugins.n8n.families import (
    choices,
    data,
    databases,
    files,
    flow,
    http,
    lists,
    messages,
    models,
    services,
)

__all__ = [
    "choices",
    "data",
    "databases",
    "files",
    "flow",
    "http",
    "lists",
    "messages",
    "models",
    "services",
]
