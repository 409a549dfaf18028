"""The call that records a task: its construct, arguments and options.

A task that no construct can express becomes a call to its module by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

from valkyr_plugins.python_workflows.constructs.steps import OWN_OUTCOMES
from valkyr_plugins.python_workflows.source.literals import (
    INDENT,
    Source,
    call,
    identifier,
    keywords,
    literal,
    may_be_named,
)

Document = Mapping[str, Any]
SUCCESS = ("success",)
OPTIONS = {
    "name": "title", "retry": "retry", "timeoutSeconds": "timeout", "cache": "cache",
    "queue": "queue", "credential": "credential", "circuitWaitSeconds": "circuit_wait",
}  # fmt: skip


@dataclass(slots=True)
class SourceCall:
    """The call that records a task.

    `read` is the value whose templates are read outside the call's body; `later` are inputs that
    are rendered in its body.

    `head` and `arguments` make the call; `form` is `assign`, `with`, `map`, `set` or `agent`.
    """

    head: str
    arguments: Callable[[int], list[str]]
    used: str
    read: Any
    form: str = "assign"
    line: bool = False
    leads_on: tuple[str, ...] = SUCCESS
    own_options: bool = True  # whether options are arguments of the call itself
    body: Document | None = None
    kind: str = ""
    later: Mapping[str, Any] = field(default_factory=dict)
    tail: str = ""

    def write(
        self, name: str, options: Mapping[str, Any], lines: list[str], depth: int
    ) -> list[str]:
        """Return the lines of the statement, with the lines of its body."""
        inner = depth + 1
        options = {"id": name, **options} if self.tail == ".wait()" else options
        given = [f"{key}={_option(key, one, inner)}" for key, one in options.items()]
        pad = INDENT * depth
        if self.form == "with":
            text = call(self.head, [*self.arguments(depth), *given], depth, 15 + len(name))
            return [f"{pad}with {text} as {name}:", *lines, *self._endings(name, inner), ""]
        if self.form == "set":
            head = call("variable.set_with", given, depth) if given else "variable.set"
            text = call(head, self.arguments(depth), depth, len(name) + 3)
        elif self.own_options:
            text = call(self.head, [*self.arguments(depth), *given], depth, len(name) + 3)
        else:
            head = call(f"{self.head}.options", given, depth) if given else self.head
            text = call(head, self.arguments(depth), depth, len(name) + 3)
        if self.form == "agent":
            whole = [*lines, *([""] if lines else []), f"{pad}{name} = {text}"]
            return [one.replace(AGENT, f"{name}_") for one in whole]
        if self.form == "map":
            text = text.replace("_body", f"{name}_body", 1)
            return [
                "",
                f"{pad}def {name}_body(item: Any) -> None:",
                *lines,
                "",
                f"{pad}{name} = {text}",
            ]
        return [f"{pad}{name} = {text}{self.tail}"]

    def _endings(self, name: str, depth: int) -> list[str]:
        words = {"until": "until", "while": "while_"}
        return [
            f"{INDENT * depth}{name}.{words[key]}({literal(one, depth)})"
            for key, one in self.later.items()
        ]


def _option(key: str, value: Any, depth: int) -> str:
    if isinstance(value, Source):
        return str(value)
    if key == "after":
        return str(value[0]) if len(value) == 1 else f"[{', '.join(value)}]"
    return literal(value, depth, len(key) + 2)


def options_of(document: Document, depth: int = 1) -> dict[str, Any]:
    """Return the options in the document of a task or a module."""
    found = {name: document[key] for key, name in OPTIONS.items() if key in document}
    cache = found.get("cache")
    if isinstance(cache, Mapping) and set(cache) == {"ttlSeconds"}:
        found["cache"] = cache["ttlSeconds"]
    if "undo" in document:
        undo = document["undo"]
        chosen = by_name(undo["use"], undo.get("with", {}))
        inner = depth + 1
        options = [f"{key}={_option(key, one, inner)}" for key, one in options_of(undo).items()]
        head = f"{chosen.head}.options({', '.join(options)})" if options else chosen.head
        found["undo"] = Source(f"lambda _: {call(head, chosen.arguments(inner), inner)}")
    return {key: one for key, one in found.items() if one is not None}


def by_name(use: str, config: Document) -> SourceCall:
    """Return a call to the built-in module, or the project's step, of the type `use`."""
    words = [
        f"{word}_" if iskeyword(word) or word == "options" else word for word in use.split(".")
    ]

    def arguments(depth: int) -> list[str]:
        named = {
            f"{key}_" if iskeyword(key) else key: one
            for key, one in config.items()
            if may_be_named(key)
        }
        others = {key: one for key, one in config.items() if not may_be_named(key)}
        rest = [f"with_={literal(others, depth + 1, 7)}"] if others else []
        return [*keywords(named, depth), *rest]

    return SourceCall(
        f"modules.{'.'.join(words)}",
        arguments,
        "modules",
        dict(config),
        own_options=False,
        leads_on=OWN_OUTCOMES.get(use, SUCCESS),
    )


def call_of(task: Document) -> SourceCall:
    """Return the call that records a task."""
    if "modules" in task:
        return _chain(task)
    config = task.get("with") or {}
    special = _SPECIAL.get(task["use"])
    found = special(task, config) if special is not None else None
    return found or by_name(task["use"], config)


def _chain(task: Document) -> SourceCall:
    last = task["modules"][-1]
    return SourceCall(
        "chain",
        lambda _: [],
        "chain",
        [one.get("with", {}) for one in task["modules"]],
        form="with",
        line=True,
        leads_on=OWN_OUTCOMES.get(last["use"], SUCCESS),
        kind="chain",
    )


def modules_of_chain(task: Document, depth: int) -> list[str]:
    """Return the statements of a chain's block, one per module."""
    written: list[str] = []
    for module in task["modules"]:
        chosen = by_name(module["use"], module.get("with") or {})
        name = identifier(module["id"], ("modules", "item"))
        options = options_of(module, depth)
        if name != module["id"]:
            options["id"] = module["id"]
        written += chosen.write(name, options, [], depth)
    return written


def _loop(task: Document, config: Document) -> SourceCall:
    given = {key: config[key] for key in ("count",) if key in config}
    if "maxIterations" in config:
        given["at_most"] = config["maxIterations"]
    later = {key: config[key] for key in ("until", "while") if key in config}
    return SourceCall(
        "repeat",
        lambda depth: keywords(given, depth),
        "repeat",
        {key: one for key, one in config.items() if key not in later},
        form="with",
        line=True,
        body=task["body"],
        kind="loop",
        later=later,
    )


def _map(task: Document, config: Document) -> SourceCall:
    words = {"maxConcurrency": "at_most", "onItemError": "on_item_error"}
    given = {words[key]: one for key, one in config.items() if key in words}
    return SourceCall(
        "each",
        lambda depth: [literal(config["items"], depth + 1), "_body", *keywords(given, depth)],
        "each",
        dict(config),
        form="map",
        body=task["body"],
        kind="map",
    )


def _sub(task: Document, config: Document) -> SourceCall | None:
    payload = config.get("input")
    known = {"workflow", "input", "wait", "version"}
    if payload is None or set(config) - known or config.get("wait") is True:
        return None
    given = {key: config[key] for key in ("wait", "version") if key in config}
    plain = isinstance(payload, Mapping) and all(
        may_be_named(key) and not iskeyword(key) for key in payload
    )

    def tail(depth: int) -> str:
        parts = keywords(payload, depth) if plain else [literal(payload, depth + 1)]
        return call("", parts, depth)

    return SourceCall(
        "sub",
        lambda depth: [literal(config["workflow"]), *keywords(given, depth)],
        "sub",
        dict(config),
        tail=tail(1),
    )


AGENT_WORDS = {
    "baseUrl": "base_url", "approvalSeconds": "approval_within", "onToolError": "on_tool_error",
    "outputSchema": "output", "maxTurns": "max_turns", "maxCost": "max_cost",
    "maxResultCharacters": "max_result_characters", "maxConcurrency": "max_concurrency",
    "maxTokens": "max_tokens", "timeoutSeconds": "answer_timeout",
    **{key: key for key in ("model", "system", "approvers", "temperature", "seed")},
}  # fmt: skip
# A stand-in for the agent's name, with which the names of its tools' functions begin.
AGENT = "_agent_"


def tools_of(task: Document) -> dict[str, Document]:
    """Return an agent's tools, keyed by their tasks' ids; toolsets have the key `listed`.

    Raises ValueError if two tools share a task.
    """
    config = task.get("with") or {}
    offered = [(one.get("task") or one["name"], one) for one in config.get("tools") or []]
    offered += [
        (one["task"], {"name": one["task"], "listed": one["tools"]})
        for one in config.get("toolsets") or []
    ]
    found = dict(offered)
    if len(found) < len(offered):
        raise ValueError(
            f"two tools of the agent {task['id']!r} share a task, which has no form in Python; "
            "keep this workflow as YAML"
        )
    return found


def _agent(task: Document, config: Document) -> SourceCall:
    given = {AGENT_WORDS[key]: one for key, one in config.items() if key in AGENT_WORDS}
    given = {key: one for key, one in given.items() if one is not None}
    approved = config.get("approve") or []

    def arguments(depth: int) -> list[str]:
        written = [literal(config["prompt"], depth + 1), *keywords(given, depth)]
        tools = [_tool(key, one, depth + 2, key in approved) for key, one in known.items()]
        return [*written, f"tools={literal(tools, depth + 1, 6)}"] if tools else written

    known = tools_of(task)
    return SourceCall(
        "agent", arguments, "agent", dict(config), form="agent", body=task["body"], kind="agent"
    )


def _tool(task_id: str, one: Document, depth: int, approve: bool) -> Source:
    given = {
        "name": one["name"],
        "description": one.get("description") or None,
        "parameters": (one.get("parameters") or {}) if "listed" not in one else None,
        "listed": one.get("listed"),
        "approve": approve or None,
    }
    named = {key: value for key, value in given.items() if value is not None}
    return Source(call("tool", [tool_function(task_id), *keywords(named, depth)], depth))


def tool_function(task_id: str) -> str:
    """Return the name of the function that is written for an agent's tool."""
    return f"{AGENT}{identifier(task_id)}"


def _wait(
    head: str, first: str, words: Mapping[str, str], *, leads_on: tuple[str, ...] = SUCCESS,
    tail: str = "",
) -> Callable[[Document, Document], SourceCall | None]:  # fmt: skip
    def write(task: Document, config: Document) -> SourceCall | None:
        if set(config) - {first, *words} or None in config.values():
            return None
        given = {words[key]: one for key, one in config.items() if key in words}
        begin = [first] if first in config else []
        return SourceCall(
            head,
            lambda depth: (
                [literal(config[one], depth + 1) for one in begin] + keywords(given, depth)
            ),
            head,
            dict(config),
            line=True,
            leads_on=leads_on,
            tail=tail,
        )

    return write


def _set(task: Document, config: Document) -> SourceCall | None:
    values = config.get("values")
    if set(config) != {"values"} or not isinstance(values, Mapping):
        return None
    return SourceCall(
        "variable.set", lambda depth: keywords(values, depth), "", dict(config), line=True,
        form="set",
    )  # fmt: skip


_SPECIAL: Mapping[str, Callable[[Document, Document], SourceCall | None]] = {
    "flow.loop": _loop,
    "flow.map": _map,
    "llm.agent": _agent,
    "flow.subworkflow": _sub,
    "flow.delay": _wait("sleep", "seconds", {"until": "until"}),
    "flow.approval": _wait(
        "approve",
        "title",
        {"description": "description", "approvers": "approvers", "expiresSeconds": "within"},
        leads_on=("approved",),
    ),
    "flow.wait_for_event": _wait(
        "wait_event", "event", {"filter": "where", "timeoutSeconds": "within"}
    ),
    "flow.callback": _wait("callback", "title", {"timeoutSeconds": "within"}, tail=".wait()"),
    "flow.set_variables": _set,
}
