"""Small n8n exports, each written in one line, and the exports in `tests/data/n8n`."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from executions.definition.catalog import catalog
from executions.definition.graph.validation import problems
from valkyr_plugins.n8n.conversion import Conversion, convert
from valkyr_plugins.n8n.export import read_exports

DATA = Path(__file__).parents[2] / "data" / "n8n"
# The problems that an import may leave for users to solve, and no others.
LEFT_TO_DO = {"placeholder", "unfinished"}


def node(name: str, kind: str, parameters: Any = None, version: float = 1, **more: Any) -> Any:
    """Return a node of an export."""
    full = kind if "." in kind else f"n8n-nodes-base.{kind}"
    about = {"name": name, "type": full, "typeVersion": version, "position": [0, 0]}
    return about | {"parameters": parameters or {}} | more


def export(*nodes: Any, links: Any = (), **more: Any) -> dict[str, Any]:
    """Return an export; a link is (source, output, target) or (source, output, target, input)."""
    connections: dict[str, Any] = {}
    for source, output, target, *place in links:
        kind, number = (output, 0) if isinstance(output, str) else ("main", output)
        outputs = connections.setdefault(source, {}).setdefault(kind, [])
        outputs += [[] for _ in range(number + 1 - len(outputs))]
        end = {"node": target, "type": kind, "index": place[0] if place else 0}
        outputs[number].append(end)
    return {"name": "tried", "nodes": list(nodes), "connections": connections, **more}


def converted(document: Any) -> Conversion:
    """Convert an export with the real modules."""
    return convert(read_exports(document)[0], catalog())


def chain(*nodes: Any, **more: Any) -> Conversion:
    """Convert a chain of nodes without an import."""
    everything = [node("Begin", "manualTrigger"), *nodes]
    pairs = pairwise(everything)
    return converted(
        export(*everything, links=[(a["name"], 0, b["name"]) for a, b in pairs], **more)
    )


def tasks(found: Conversion) -> dict[str, Any]:
    """Return the tasks at any depth, by ID."""
    by_id: dict[str, Any] = {}
    pending = list(found.definition["tasks"])
    while pending:
        task = pending.pop()
        by_id[task["id"]] = task
        pending += task.get("body", {}).get("tasks", [])
    return by_id


def edges(found: Conversion) -> set[tuple[str, str, str]]:
    """Return the edges of the outermost body."""
    return {(edge["from"], edge["on"], edge["to"]) for edge in found.definition["edges"]}


def row(found: Conversion, name: str) -> Any:
    """Return the report's text about a node."""
    return next(one for one in found.report.rows if one.node == name)


def codes(found: Conversion) -> set[str]:
    """Return the codes of the problems that block publishing a definition."""
    return {one.code for one in problems(found.definition, catalog())}


def sample(name: str) -> Any:
    """Load an export of `tests/data/n8n`."""
    return json.loads((DATA / f"{name}.json").read_text())
