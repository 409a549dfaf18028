"""What becomes of each kind of node: a file a family."""

from valkyr_plugins.n8n.families import (
    calls,
    choices,
    data,
    databases,
    http,
    lists,
    merging,
    messages,
    models,
    pages,
    waits,
    webhooks,
)

__all__ = [
    "calls",
    "choices",
    "data",
    "databases",
    "http",
    "lists",
    "merging",
    "messages",
    "models",
    "pages",
    "waits",
    "webhooks",
]
