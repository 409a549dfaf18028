"""Convert nodes, in one file per topic. A function raises Left if no task can replace the node."""

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
