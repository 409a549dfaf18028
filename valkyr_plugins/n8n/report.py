"""The report of an import: the result of each node, and the objects that a user must create."""

from dataclasses import dataclass, field
from typing import Any

MAPPED, CHANGED, LEFT = "mapped", "changed", "left"
STATUSES = (MAPPED, CHANGED, LEFT)


@dataclass(slots=True)
class Row:
    """A node's result. `task` is the task's ID, or ""; `module` can be a trigger's type or `note`.

    MAPPED: equivalent. CHANGED: nearly equivalent, or incomplete; the remarks name the differences.
    LEFT: a placeholder, or no task.
    """

    node: str
    type: str
    status: str = MAPPED
    task: str = ""
    module: str = ""
    remarks: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """Return the row for the API."""
        became = {"task": self.task or None, "module": self.module} if self.module else None
        return {
            "node": self.node, "nodeType": self.type, "became": became, "status": self.status,
            "remarks": self.remarks,
        }  # fmt: skip


@dataclass(slots=True)
class ImportReport:
    """The rows, in the file's order, and the objects to create.

    Each object is listed with the nodes that use it.
    """

    rows: list[Row] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    credentials: dict[str, tuple[str, str, list[str]]] = field(default_factory=dict)
    variables: dict[str, list[str]] = field(default_factory=dict)
    workflows: dict[str, tuple[str, list[str]]] = field(default_factory=dict)

    def credential(self, name: str, kind: str, was: str, node: str) -> None:
        """Record a credential that a node needs, with its type in n8n."""
        self.credentials.setdefault(name, (kind, was, []))[2].append(node)

    def variable(self, name: str, node: str) -> None:
        """Record a variable that a node reads and that needs a value."""
        self.variables.setdefault(name, []).append(node)

    def workflow(self, slug: str, was: str, node: str) -> None:
        """Record another workflow that a node starts."""
        self.workflows.setdefault(slug, (was, []))[1].append(node)

    def counts(self) -> dict[str, int]:
        """Return how many nodes have each status."""
        return {status: sum(row.status == status for row in self.rows) for status in STATUSES}

    def told(self) -> dict[str, Any]:
        """Return the report for the API."""
        return {
            "rows": [row.told() for row in self.rows],
            "counts": self.counts(),
            "toCreate": {
                "credentials": [
                    {"name": name, "type": kind, "was": was, "nodes": _once(nodes)}
                    for name, (kind, was, nodes) in self.credentials.items()
                ],
                "variables": [
                    {"name": name, "nodes": _once(nodes)} for name, nodes in self.variables.items()
                ],
                "workflows": [
                    {"slug": slug, "was": was, "nodes": _once(nodes)}
                    for slug, (was, nodes) in self.workflows.items()
                ],
            },
            "remarks": self.remarks,
        }


def _once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))
