"""The task that stands for a node which has no equal here, and keeps it."""

import json
from typing import Any

from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.secrecy import scrubbed, without_secrets

PLACEHOLDER = "n8n.placeholder"
MAX_PARAMETERS = 30_000
MAX_TEXT = 20_000


def inputs_of(node: Node, reason: str) -> dict[str, Any]:
    """The `with` of a node's placeholder: what it was and why it is one."""
    given = bare(scrubbed(dict(node.parameters)))
    if len(json.dumps(given)) > MAX_PARAMETERS:
        given = {"leftOut": "The parameters are too long to be kept; see the export."}
    found: dict[str, Any] = {
        "nodeType": bare(node.type),
        "node": bare(node.name),
        "reason": bare(reason),
        "parameters": given,
    }
    if node.credentials:
        found["credentials"] = [bare(f"{kind}: {name}") for kind, name in node.credentials.items()]
    return found


def plain_inputs(what: str, reason: str) -> dict[str, Any]:
    """The `with` of a placeholder that stands for no node but for a way the graph goes."""
    return {"nodeType": what, "reason": bare(reason)}


def bare(value: Any) -> Any:
    """A value without templates: n8n's {{ }} are written [[ ]], so that nobody renders them."""
    if isinstance(value, str):
        text = without_secrets(value[:MAX_TEXT])
        return text.replace("{{", "[[").replace("}}", "]]").replace("{%", "[%")
    if isinstance(value, dict):
        return {bare(key): bare(item) for key, item in value.items()}
    if isinstance(value, list):
        return [bare(item) for item in value]
    return value
