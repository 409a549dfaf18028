"""Write the loop that the engine runs for an agent, from the agent's task. This module is pure.

    model (llm.chat) ── answer ─────────────────────────────────▶ turn (llm.agent_turn)
        └─ tool_calls ─▶ calls (flow.map over the calls) ─────────▶ turn
                            call (llm.tool_call) ─ a tool's id ─▶ [approval] ─▶ the tool ─▶ result
                                               └─ invalid ───────────────────────────────▶ result

The loop ends when `turn` returns `done`. A version stores the written loop, so that a later release
of this file does not change running agents.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from executions.public.definitions import Catalog, modules_of
from valkyr_plugins.connectors.agents.tool_call import INVALID
from valkyr_plugins.connectors.agents.turn import schema_order

SUCCESS, ERROR = "success", "error"
OUTCOMES_OF_ITS_OWN = frozenset({INVALID, SUCCESS, ERROR})
CHAT = ("model", "baseUrl", "timeoutSeconds", "temperature", "maxTokens", "seed")
MODEL_STEP = ("credential", "retry", "timeoutSeconds", "circuitWaitSeconds", "queue")
LIMITS = ("maxTurns", "maxCost", "outputSchema")
_READ = re.compile(r"tasks\s*(?:\.\s*|\[\s*\\?[\"'])([A-Za-z0-9_-]+)")
WIDE, HIGH = 340, 150


def expanded(task: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    """Return the agent's task with the `with` and the `body` that the engine runs."""
    config: dict[str, Any] = dict(task.get("with") or {})
    tools = task["body"]["tasks"]
    taken = {tool["id"] for tool in tools} | set(_READ.findall(json.dumps([config, tools])))
    names = {name: _free(name, taken) for name in ("model", "calls", "turn", "call", "result")}
    written = {key: value for key, value in task.items() if key not in (*MODEL_STEP, "body")}
    return written | {
        "with": config
        | {"until": "{{ tasks." + names["turn"] + ".output.done }}", "resultOf": names["turn"]},
        "body": {
            "tasks": [
                _model(task, config, names),
                _calls(task, config, names, taken, catalog),
                _turn(config, names),
            ],
            "edges": [
                _edge(names["model"], names["turn"], "answer"),
                _edge(names["model"], names["calls"], "tool_calls"),
                _edge(names["calls"], names["turn"], SUCCESS),
            ],
        },
    }


def _free(name: str, taken: set[str]) -> str:
    """Return `name`, with `_` appended until it is not in `taken`; add the result to `taken`."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _edge(source: str, target: str, on: str) -> dict[str, str]:
    return {"from": source, "to": target, "on": on}


def _at(column: int, row: int = 0) -> dict[str, int]:
    return {"x": column * WIDE, "y": row * HIGH}


def _previous(turn: str, path: str, otherwise: str) -> str:
    return "{{ loop.previous." + turn + path + " if loop.previous else " + otherwise + " }}"


def _seen(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the part of each tool that the model gets: name, description and parameters."""
    return [
        {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
        for tool in config.get("tools") or []
    ]


def _model(
    task: Mapping[str, Any], config: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    chat = {key: config[key] for key in CHAT if config.get(key) is not None}
    system = config.get("system") or ""
    if config.get("outputSchema") is not None:
        system = f"{system}\n\n{schema_order(config['outputSchema'])}".strip()
    return {
        "id": names["model"],
        "name": "Ask the model",
        "use": "llm.chat",
        "with": chat
        | {
            "system": system,
            "messages": config["prompt"],
            "history": _previous(names["turn"], ".messages", "[]"),
            "tools": _seen(config),
            "toolLists": [one["tools"] for one in config.get("toolsets") or []],
        },
        "ui": _at(0),
    } | {key: task[key] for key in MODEL_STEP if key in task}


def _calls(
    task: Mapping[str, Any],
    config: Mapping[str, Any],
    names: Mapping[str, str],
    taken: set[str],
    catalog: Catalog,
) -> dict[str, Any]:
    return {
        "id": names["calls"],
        "name": "Run the tools",
        "use": "flow.map",
        "with": {
            "items": "{{ tasks." + names["model"] + ".output.toolCalls }}",
            "maxConcurrency": config.get("maxConcurrency", 4),
        },
        "body": _call_body(task, config, names, taken, catalog),
        "ui": _at(1),
    }


def _call_body(
    task: Mapping[str, Any],
    config: Mapping[str, Any],
    names: Mapping[str, str],
    taken: set[str],
    catalog: Catalog,
) -> dict[str, Any]:
    tools, call, result = task["body"]["tasks"], names["call"], names["result"]
    choose = {
        "id": call,
        "name": "Check the call",
        "use": "llm.tool_call",
        "with": {
            "call": "{{ item }}",
            "tools": config.get("tools") or [],
            "toolsets": config.get("toolsets") or [],
            "routes": [tool["id"] for tool in tools],
        },
        "ui": _at(0),
    }
    approvals: dict[str, str] = {}
    tasks: list[dict[str, Any]] = [choose]
    edges = [_edge(call, result, INVALID)]
    for row, tool in enumerate(tools):
        name = tool["id"]
        before, on = call, name
        if name in (config.get("approve") or []):
            approvals[name] = approval = _free(f"approve_{name}"[:60], taken)
            tasks.append(_approval(approval, task, tool, config, call) | {"ui": _at(1, row)})
            edges += [_edge(call, approval, name)]
            edges += [_edge(approval, result, refused) for refused in ("rejected", "expired")]
            before, on = approval, "approved"
        edges.append(_edge(before, name, on))
        edges += [_edge(name, result, outcome) for outcome in _outcomes(tool, catalog)]
        if config.get("onToolError", "model") == "model":
            edges.append(_edge(name, result, ERROR))
        tasks.append({**tool, "ui": _at(2, row)})
    tasks.append(_result(config, [tool["id"] for tool in tools], approvals, names))
    return {"tasks": tasks, "edges": edges}


def _outcomes(tool: Mapping[str, Any], catalog: Catalog) -> tuple[str, ...]:
    last = modules_of(tool)[-1]
    return tuple(catalog[last["use"]].outcomes_for(last.get("with") or {})) or (SUCCESS,)


def _approval(
    name: str,
    task: Mapping[str, Any],
    tool: Mapping[str, Any],
    config: Mapping[str, Any],
    call: str,
) -> dict[str, Any]:
    agent = task.get("name") or task["id"]
    given: dict[str, Any] = {
        "title": f"{agent}: run {tool.get('name') or tool['id']}?".replace("{{", "{ {")[:200],
        "description": "{{ tasks." + call + ".output.summary }}",
        "approvers": config.get("approvers") or [],
    }
    if config.get("approvalSeconds") is not None:
        given["expiresSeconds"] = config["approvalSeconds"]
    return {"id": name, "name": f"Approve {tool['id']}", "use": "flow.approval", "with": given}


def _result(
    config: Mapping[str, Any], tools: list[str], approvals: Mapping[str, str],
    names: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    def ended(name: str, *keys: str) -> dict[str, str]:
        return {key: "{{ tasks." + name + "." + key + " }}" for key in keys}

    given: dict[str, Any] = {
        "call": "{{ item }}",
        "error": "{{ tasks." + names["call"] + ".output.error }}",
        "results": {name: ended(name, "outcome", "output", "error") for name in tools},
        "approvals": {tool: ended(name, "outcome", "output") for tool, name in approvals.items()},
    }
    if "maxResultCharacters" in config:
        given["maxCharacters"] = config["maxResultCharacters"]
    return {
        "id": names["result"], "name": "Tool result", "use": "llm.tool_result", "with": given,
        "ui": _at(3),
    }  # fmt: skip


def _turn(config: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": names["turn"],
        "name": "End the turn",
        "use": "llm.agent_turn",
        "with": {
            "answer": "{{ tasks." + names["model"] + ".output }}",
            "results": "{{ tasks." + names["calls"] + ".output }}",
            "previous": _previous(names["turn"], "", "none"),
            "turn": "{{ loop.iteration }}",
            "model": config["model"],
        }
        | {key: config[key] for key in LIMITS if config.get(key) is not None},
        "ui": _at(2),
    }
