"""Read an export of n8n, in the format of any version: nodes, links and settings."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from executions.public.definitions import DefinitionError, DefinitionProblem

MAIN = "main"
STRETCH = 1.4  # horizontal scale, because the studio's tasks are wider than n8n's nodes
STOP, GO_ON, ERROR_OUTPUT = "stop", "goOn", "errorOutput"


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `kind` is the type without its package.

    `credentials` maps each credential's type to its name. `on_error` is STOP, GO_ON (the next nodes
    run as if nothing had happened) or ERROR_OUTPUT (a failure has its own output, the last one).
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
        """Return the last part of the type: `httpRequest` for `n8n-nodes-base.httpRequest`."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class NodeLink:
    """A link from an output of one node to an input of another.

    `kind` is `main`, or a kind that begins with `ai_`.
    """

    source: str
    output: int
    target: str
    input: int = 0
    kind: str = MAIN


@dataclass(frozen=True, slots=True)
class Export:
    """One n8n workflow; `remarks` say which parts could not be read."""

    name: str
    description: str
    nodes: tuple[Node, ...]
    links: tuple[NodeLink, ...]
    settings: Mapping[str, Any]
    remarks: tuple[str, ...] = ()


# Read n8n's JSON tolerantly: unexpected parts are omitted and reported, but cause no error.
#
# The JSON may be an export, a response of n8n's API, a copy from n8n's canvas, or a list of these.


MAX_BYTES = 8 * 1024 * 1024
MAX_NODES = 2_000
MAX_LINKS = 10_000
MAX_WORKFLOWS = 200
MAX_DEPTH = 20
MAX_WRAPPERS = 4
MAX_TEXT = 200
MAX_PORT = 100
MAX_ATTEMPTS = 100
MAX_POSITION = 1_000_000
MAX_NUMBER = 1e300
WRAPPERS = ("workflow", "data", "workflowData")
# The last one is a private character with which `texts` marks places.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff\ue000]")
_GO_ON = {"continueRegularOutput": GO_ON, "continueErrorOutput": ERROR_OUTPUT}


def read_text(text: str) -> list[Export]:
    """Return the workflows in `text`. Raises DefinitionError if it is too large or invalid."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        message = f"the export has {size:,} bytes; at most {MAX_BYTES:,} are accepted"
        raise DefinitionError([DefinitionProblem("", "too_large", message)])
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        message = f"this is not valid JSON: {reason}"
        raise DefinitionError([DefinitionProblem("", "syntax", message)]) from None
    return read_exports(value)


def read_exports(value: Any) -> list[Export]:
    """Return the workflows in a value.

    Raises DefinitionError for no workflow, too many workflows, or a workflow with too many nodes.
    """
    found = list(_documents(value, MAX_WRAPPERS))
    if not found:
        message = (
            'this is not a workflow of n8n: expected an object with "nodes" and '
            '"connections", as n8n downloads and copies it'
        )
        raise DefinitionError([DefinitionProblem("", "not_n8n", message)])
    if len(found) > MAX_WORKFLOWS:
        message = (
            f"{len(found):,} workflows are too many at once; at most {MAX_WORKFLOWS:,} are accepted"
        )
        raise DefinitionError([DefinitionProblem("", "too_many_workflows", message)])
    return [_export(one) for one in found]


def _documents(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        if value and all(_is_node(item) for item in value):
            yield {"nodes": value}
        elif depth:
            for item in value:
                yield from _documents(item, depth - 1)
    elif isinstance(value, dict):
        if isinstance(value.get("nodes"), list):
            yield value
        elif depth:
            for key in WRAPPERS:
                if isinstance(value.get(key), (dict, list)):
                    yield from _documents(value[key], depth - 1)


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and "nodes" not in value


def _export(document: Mapping[str, Any]) -> Export:
    remarks: list[str] = []
    if len(document["nodes"]) > MAX_NODES:
        message = f"there are {len(document['nodes']):,} nodes; at most {MAX_NODES:,} are accepted"
        raise DefinitionError([DefinitionProblem("nodes", "too_many_nodes", message)])
    nodes, names = _nodes(document["nodes"], remarks)
    links = _links(_object(document.get("connections")), names, remarks)
    return Export(
        name=text(document.get("name"), MAX_TEXT) or "Imported from n8n",
        description=text(document.get("description"), 10_000),
        nodes=tuple(nodes),
        links=links,
        settings=cleaned(_object(document.get("settings"))),
        remarks=tuple(remarks),
    )


def _nodes(values: list[Any], remarks: list[str]) -> tuple[list[Node], dict[str, str]]:
    """Return the nodes, and their unique names, keyed by each node's ID and original name."""
    nodes: list[Node] = []
    called: dict[str, str] = {}
    taken: set[str] = set()
    for value in values:
        if not _is_node(value):
            remarks.append("An entry of nodes has no type and was omitted.")
            continue
        node = _node(value, taken)
        taken.add(node.name)
        nodes.append(node)
        for name in (value.get("id"), value.get("name")):
            if isinstance(name, str):
                called.setdefault(name, node.name)
    return nodes, called


def _node(value: Mapping[str, Any], taken: set[str]) -> Node:
    kind = text(value["type"], MAX_TEXT) or "unknown"
    x, y = _position(value.get("position"))
    attempts = _number(value.get("maxTries"), 3) if value.get("retryOnFail") is True else 0
    return Node(
        name=_unique(text(value.get("name"), MAX_TEXT) or kind.rpartition(".")[2], taken),
        type=kind,
        version=_number(value.get("typeVersion"), 1),
        parameters=cleaned(_object(value.get("parameters"))),
        x=x,
        y=y,
        disabled=value.get("disabled") is True,
        credentials=_credentials(_object(value.get("credentials"))),
        on_error=_on_error(value),
        attempts=int(min(max(attempts, 0), MAX_ATTEMPTS)),
        attempt_seconds=min(max(_number(value.get("waitBetweenTries"), 1000) / 1000, 0), 3600),
        once=value.get("executeOnce") is True,
        note=text(value.get("notes"), 2_000),
    )


def _on_error(value: Mapping[str, Any]) -> str:
    if value.get("continueOnFail") is True:
        return GO_ON
    how = value.get("onError")
    return _GO_ON.get(how, STOP) if isinstance(how, str) else STOP


def _credentials(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the credentials' names, keyed by type; at most ten, without IDs and other data."""
    named = {}
    for kind, given in list(value.items())[:10]:
        name = given.get("name") if isinstance(given, dict) else given
        named[text(kind, MAX_TEXT)] = text(name, MAX_TEXT)
    return named


def _links(
    connections: Mapping[str, Any], names: Mapping[str, str], remarks: list[str]
) -> tuple[NodeLink, ...]:
    found: dict[NodeLink, None] = {}
    lost = 0
    for source, kinds in connections.items():
        for kind, output, given in _ends(_object(kinds)):
            target = given.get("node")
            known = isinstance(target, str) and target in names and source in names
            if not known or len(found) >= MAX_LINKS:
                lost += 1
                continue
            place = min(max(int(_number(given.get("index"), 0)), 0), MAX_PORT)
            found[NodeLink(names[source], output, names[str(target)], place, text(kind, 40))] = None
    if lost:
        many = "1 connection names a node" if lost == 1 else f"{lost} connections name nodes"
        remarks.append(f"{many} that the file does not contain, and cannot be drawn.")
    return tuple(found)


def _ends(kinds: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for kind, outputs in kinds.items():
        for output, ends in enumerate(outputs if isinstance(outputs, list) else ()):
            for given in ends if isinstance(ends, list) else ():
                if isinstance(given, dict) and output <= MAX_PORT:
                    yield kind or MAIN, output, given


def _unique(name: str, taken: set[str]) -> str:
    number, found = 2, name
    while found in taken:
        found, number = f"{name} ({number})", number + 1
    return found


def _position(value: Any) -> tuple[float, float]:
    if isinstance(value, dict):
        value = [value.get("x"), value.get("y")]
    if not isinstance(value, list) or len(value) != 2:
        return 0, 0
    bounded = [max(min(_number(one, 0), MAX_POSITION), -MAX_POSITION) for one in value]
    return round(bounded[0] * STRETCH), round(bounded[1])


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any, default: float) -> float:
    sound = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if sound and abs(value) < 10**9 else default


def text(value: Any, most: int) -> str:
    """Return `value` stripped, storable and cut to `most` characters; "" if it is not a string."""
    return _UNSTORABLE.sub("\ufffd", value[:most]).strip() if isinstance(value, str) else ""


def cleaned(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a JSON value without NUL, lone surrogates, NaN, huge numbers and deep nesting."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, (int, float)):
        # This comparison is false for NaN, so NaN becomes None.
        return value if abs(value) < MAX_NUMBER else None
    if isinstance(value, (dict, list)) and not depth:
        return "…"
    if isinstance(value, dict):
        return {cleaned(str(key)): cleaned(item, depth - 1) for key, item in value.items()}
    return [cleaned(item, depth - 1) for item in value] if isinstance(value, list) else value
