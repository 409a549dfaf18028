"""What an export of n8n holds, whatever version wrote it: nodes, links, settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAIN = "main"
STRETCH = 1.4  # the studio's tasks are as much wider than n8n's nodes; places are drawn apart
STOP, GO_ON, ERROR_OUTPUT = "stop", "goOn", "errorOutput"


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `kind` is the type without its package; `credentials` are names by their types.

    `on_error` is STOP, GO_ON (what follows runs as if nothing had happened) or ERROR_OUTPUT (a
    failure leaves by an output of its own, the last one).
    """

    name: str
    type: str
    version: float = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    x: float = 0
    y: float = 0
    disabled: bool = False
    credentials: Mapping[str, str] = field(default_factory=dict)
    on_error: str = STOP
    attempts: int = 0
    attempt_seconds: float = 0
    once: bool = False
    note: str = ""

    @property
    def kind(self) -> str:
        """The type's last word: `httpRequest` of `n8n-nodes-base.httpRequest`."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class NodeLink:
    """An output of a node that leads to an input of another; `kind` is `main` or an `ai_…`."""

    source: str
    output: int
    target: str
    input: int = 0
    kind: str = MAIN


@dataclass(frozen=True, slots=True)
class Export:
    """One workflow of n8n; `remarks` say what of the file could not be read."""

    name: str
    description: str
    nodes: tuple[Node, ...]
    links: tuple[NodeLink, ...]
    settings: Mapping[str, Any]
    remarks: tuple[str, ...] = ()
