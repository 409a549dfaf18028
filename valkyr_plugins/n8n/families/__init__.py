"""Convert each kind of node: one file per family. Functions raise Left for nodes without a task."""

from valkyr_plugins.n8n.families import (
    agents,
    choices,
    code,
    data,
    databases,
    digests,
    files,
    flow,
    graph_apis,
    http,
    lists,
    messages,
    models,
    services,
)

__all__ = [
    "agents",
    "choices",
    "code",
    "data",
    "databases",
    "digests",
    "files",
    "flow",
    "graph_apis",
    "http",
    "lists",
    "messages",
    "models",
    "services",
]
