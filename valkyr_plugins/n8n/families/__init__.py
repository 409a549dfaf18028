"""Convert each kind of node: one file per family."""

from valkyr_plugins.n8n.families import (
    choices,
    data,
    databases,
    flow,
    http,
    lists,
    messages,
    models,
)

__all__ = [
    "choices",
    "data",
    "databases",
    "flow",
    "http",
    "lists",
    "messages",
    "models",
]
