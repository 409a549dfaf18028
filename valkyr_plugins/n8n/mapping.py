"""The input (`NodeWork`) and the result (`Made`) of a node's conversion, and names in Valkyr."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.report import ImportReport
from valkyr_plugins.n8n.shape import UNKNOWN, Shape, Sight, one
from valkyr_plugins.n8n.texts import Texts

# Derive the IDs of tasks, credentials and variables from users' names.


MAX_ID = 60
MAX_CREDENTIAL = 80
_GAP = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def plain(name: str) -> str:
    """Return a name in lower-case letters, digits and single underscores; "" if none remain."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _GAP.sub("_", folded.lower()).strip("_")[:MAX_ID].strip("_")


def credential_name(name: str, kind: str) -> str:
    """Return the new name of an n8n credential, beginning with a lower-case letter."""
    found = plain(name) or plain(_CAMEL.sub(" ", kind)) or "credential"
    return found if found[0].isalpha() else f"c_{found}"


def workflow_slug(name: str) -> str:
    """Return the slug that an n8n workflow most likely gets in Valkyr."""
    return plain(name).replace("_", "-") or "workflow"


class Ids:
    """Issues unique IDs across all bodies, so that a reference names one task."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str, otherwise: str = "task") -> str:
        """Return a free ID derived from `name`, or from `otherwise` if `name` gives none."""
        base = plain(name) or plain(_CAMEL.sub(" ", otherwise)) or "task"
        base = base if base[0].isalpha() else f"n_{base}"
        found, number = base, 2
        while found in self._taken:
            found, number = f"{base}_{number}", number + 1
        self._taken.add(found)
        return found


ITEM, LIST, MERGE = "item", "list", "merge"
SUCCESS, ERROR = "success", "error"


class Left(Exception):
    """A node cannot be mapped; the message says why, and what to do."""


@dataclass(slots=True)
class Made:
    """The task for a node: a module, its `with` and its outputs.

    `outcomes` maps each output to an outcome; if it is empty, the outcome is always `success`.
    `credential` is a credential's name. `before` are complete tasks that run earlier, one after
    another; `whole` is the task itself if it has a body.
    """

    use: str
    inputs: dict[str, Any]
    shape: Shape
    outcomes: Mapping[int, str] = field(default_factory=dict)
    credential: str = ""
    join: str = ""
    before: list[dict[str, Any]] = field(default_factory=list)
    whole: dict[str, Any] | None = None


@dataclass(slots=True)
class Helped:
    """The task and the remarks of a helper node, for the helper's row in the report."""

    task: str
    module: str
    remarks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class NodeWork:
    """One node, the ID of its task, its inputs, and its remarks."""

    node: Node
    id: str
    inputs: Mapping[int, Shape]
    sight: Sight
    texts: Texts
    report: ImportReport
    helpers: list[tuple[str, Node]]
    exclusive: bool = False  # whether only one of the branches that lead to the inputs is taken
    branch: Mapping[str, frozenset[str]] = field(default_factory=dict)  # as in NodePort
    parts: dict[str, Helped] = field(default_factory=dict)  # results of helpers, by their nodes
    drawing: "Drawing | None" = None
    earlier: str = ""  # the ID of the task before the node's own task

    @property
    def output(self) -> str:
        """Return the expression with which later tasks read this task's output."""
        return f"tasks.{self.id}.output"

    @property
    def shape(self) -> Shape:
        """Return the shape of the node's first input."""
        return self.inputs.get(0, UNKNOWN)

    def get(self, keys: str, default: Any = None) -> Any:
        """Return the parameter at dotted keys, as in the file; `default` if it is missing."""
        return below(self.node.parameters, keys, default)

    def word(self, keys: str, default: str = "") -> str:
        """Return a parameter or its `value` if that is a non-empty string, else the default."""
        found = self.get(keys)
        if isinstance(found, dict):
            found = found.get("value")
        return found if isinstance(found, str) and found else default

    def value(self, raw: Any, name: str = "") -> Any:
        """Return a raw value in template syntax."""
        return self.texts.value(raw, name)

    def text(self, raw: Any, name: str = "") -> str:
        """Return a raw value as text in template syntax."""
        written = self.value(raw, name)
        return written if isinstance(written, str) else "" if written is None else str(written)

    def remark(self, sentence: str) -> None:
        """Record a difference from n8n."""
        self.sight.remark(sentence)

    def names(self, keys: str) -> list[dict[str, Any]]:
        """Return the objects in a parameter that is a list; [] for any other parameter."""
        found = self.get(keys)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def items(self) -> str:
        """Return an expression for the list of the node's input items. Raises Left."""
        if self.shape.items is not None:
            return self.shape.items
        if self.shape.whole is not None:
            return f"[{self.shape.whole}]"
        raise Left(f"it processes a list, and {self.shape.why}")

    def credential(self, kind: str, *types: str) -> str:
        """Record the first credential (of `types`, if given) as a `kind`; return its name or ""."""
        for was, name in self.node.credentials.items():
            if not types or was in types:
                return self.secret(credential_name(name, was), kind, f"{was} {name}".strip())
        return ""

    def also(self, suffix: str) -> str:
        """Return a new ID for another task of this node."""
        return self.drawn.take(f"{self.node.name[:40]} {suffix}")

    @property
    def drawn(self) -> "Drawing":
        """Return the object that adds further tasks.

        Raises Left if only one task is possible here.
        """
        if self.drawing is None:
            raise Left("it needs several tasks")
        return self.drawing

    def secret(self, name: str, kind: str, was: str) -> str:
        """Record that a credential must be created; return its name."""
        self.report.credential(name, kind, was, self.node.name)
        return name

    def made(
        self, use: str, inputs: dict[str, Any], shape: Shape | None = None, **more: Any
    ) -> Made:
        """Return the task for the node; `shape` defaults to that of the task's whole output."""
        return Made(use, inputs, one(self.output) if shape is None else shape, **more)


class Drawing(Protocol):
    """Adds further tasks for a node: its tools, and tasks that run before its own."""

    def take(self, name: str) -> str:
        """Return a free ID derived from a name."""

    def helpers(self, name: str) -> list[tuple[str, Node]]:
        """Return the nodes that help this node, each with the kind of its link."""

    def tool(
        self, work: NodeWork, node: Node, arguments: dict[str, dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the tasks of a tool, one after another, and report on its node."""


Family = Callable[[NodeWork], Made]
TAKES: dict[str, str] = {}
FAMILIES: dict[str, Family] = {}


def family(*kinds: str, takes: str = ITEM) -> Callable[[Family], Family]:
    """Return a decorator that registers a function, and the input it takes, for kinds of nodes."""

    def register(function: Family) -> Family:
        for kind in kinds:
            FAMILIES[kind] = function
            TAKES[kind] = takes
        return function

    return register


def below(value: Any, keys: str, default: Any = None) -> Any:
    """Return the value at dotted keys, or `default` if there is none."""
    for key in keys.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return default
        value = value[key]
    return value
