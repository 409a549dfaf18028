"""Convert an agent with tools into a loop that calls the model and the requested tools."""

import re
from dataclasses import replace
from typing import Any

from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.families.flow import subworkflow
from valkyr_plugins.n8n.families.http import http_request
from valkyr_plugins.n8n.families.programs import PYTHON
from valkyr_plugins.n8n.mapping import (
    ERROR,
    SUCCESS,
    Helped,
    Left,
    Made,
    NodeWork,
    below,
    family,
)
from valkyr_plugins.n8n.placeholder import bare
from valkyr_plugins.n8n.shape import Shape, one
from valkyr_plugins.n8n.texts import is_expression

TOOL = "ai_tool"
TURNS, MAX_TURNS = 10, 100
WIDE, HIGH = 340, 150
AT_ONCE = 20
_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_HOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,59})\}")
_UNKNOWN = "There is no such tool."


def agent_tasks(
    work: NodeWork, inputs: dict[str, Any], credential: str, loop: str
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return the task of the first message, the loop's task, and the answer's expression.

    The loop's body calls the model. If the model requests tools, a map runs them. The model's
    answer and the tools' results are added to the conversation of the next iteration. Raises Left.
    """
    x, y = work.node.x, work.node.y
    first, ask, calls, talk = (work.also(word) for word in ("prompt", "ask", "calls", "talk"))
    prompt = inputs["messages"]
    asked = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    tools, body = _tools(work)
    said = "{{ loop.previous." + talk + " if loop.previous else tasks." + first + ".output }}"
    chat: dict[str, Any] = {
        "id": ask, "name": "Ask the model", "use": "llm.chat",
        "with": inputs | {"messages": said, "tools": tools}, "ui": {"x": 0, "y": 0},
    }  # fmt: skip
    if credential:
        chat["credential"] = credential
    answered = (
        '{"role": "assistant", "content": tasks.' + ask + ".output.text, "
        '"toolCalls": tasks.' + ask + ".output.toolCalls}"
    )
    before = f"(loop.previous.{talk} if loop.previous else tasks.{first}.output)"
    tasks = [
        chat,
        {
            "id": calls, "name": "Run the tools", "use": "flow.map",
            "with": {"items": "{{ tasks." + ask + ".output.toolCalls }}", "maxConcurrency": 1},
            "body": body, "ui": {"x": WIDE, "y": 0},
        },
        {
            "id": talk, "name": "Go on talking", "use": "flow.noop",
            "with": {"value": "{{ " + f"{before} + [{answered}] + tasks.{calls}.output" + " }}"},
            "ui": {"x": 5 * WIDE, "y": 0},
        },
    ]  # fmt: skip
    edges = [
        {"from": ask, "to": calls, "on": "tool_calls"}, {"from": calls, "to": talk, "on": SUCCESS},
    ]  # fmt: skip
    most = work.get("options.maxIterations", TURNS)
    most = most if isinstance(most, int) and 0 < most <= MAX_TURNS else TURNS
    work.remark(
        f"It is a flow.loop: the model is asked, runs tools by their names, and is asked again, at "
        f"most {most} times. See the tools' descriptions and arguments."
    )
    return (
        {
            "id": first, "name": f"{work.node.name}: prompt"[:200], "use": "flow.noop",
            "with": {"value": asked}, "ui": {"x": x, "y": y - 120},
        },
        {
            "id": loop, "name": work.node.name[:200], "use": "flow.loop",
            "with": {
                "until": "{{ not tasks." + ask + ".output.toolCalls }}", "maxIterations": most,
            },
            "body": {"tasks": tasks, "edges": edges}, "ui": {"x": x, "y": y},
        },
        f"tasks.{loop}.output.last.{ask}.text",
    )  # fmt: skip


@family("mcpTrigger")
def served(work: NodeWork) -> Made:
    """Make a map over the webhook's single call; the map's body runs the tool named in the call."""
    _, body = _tools(work, bare_result=True)
    work.remark(
        "It served its tools by the Model Context Protocol, which nothing here speaks: POST "
        '{"name": …, "arguments": {…}} to the webhook, which answers with a list of the one result.'
    )
    loop: dict[str, Any] = {
        "id": work.id, "name": work.node.name[:200], "use": "flow.map",
        "with": {"items": "{{ [input] }}", "maxConcurrency": 1}, "body": body,
        "ui": {"x": work.node.x, "y": work.node.y},
    }  # fmt: skip
    return work.made("flow.map", loop["with"], whole=loop)


def _tools(
    work: NodeWork, *, bare_result: bool = False
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the tools for the model, and the body that runs a called tool. Raises Left."""
    choose, result = work.also("tool"), work.also("result")
    tools: list[dict[str, Any]] = []
    tasks: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    values: list[str] = []
    for node in [node for kind, node in work.helpers if kind == TOOL]:
        if node.disabled:
            work.parts[node.name] = Helped(
                work.id, "flow.loop", ["It was disabled, and was left out."]
            )
            continue
        arguments: dict[str, dict[str, Any]] = {}
        name = _called(node, {tool["name"] for tool in tools})
        drawn = work.drawn.tool(work, node, arguments)
        tools.append(
            {"name": name, "description": _about(work, node), "parameters": _schema(arguments)}
        )
        edges.append({"from": choose, "to": drawn[0]["id"], "on": name})
        for place, task in enumerate(drawn):
            task["ui"] |= {"x": WIDE * (place + 1), "y": HIGH * (len(tools) - 1)}
            tasks.append(task)
            end = f"{result}_{len(values) // AT_ONCE}"
            after = drawn[place + 1]["id"] if place + 1 < len(drawn) else end
            edges.append({"from": task["id"], "to": after, "on": SUCCESS})
            edges.append({"from": task["id"], "to": end, "on": ERROR})
        last = drawn[-1]["id"]
        failures = "".join(
            f" if tasks.{task['id']}.error is none else tasks.{task['id']}.error.message"
            for task in drawn
        )
        values.append(f'(tasks.{last}.output{failures}) if item.name == "{name}" else ')
    if not tools:
        raise Left("none of its tools is on")
    switch = {
        "id": choose, "name": "Which tool", "use": "flow.switch",
        "with": {
            "value": "{{ item.name }}", "cases": {tool["name"]: tool["name"] for tool in tools},
            "default": "unknown",
        },
        "ui": {"x": 0, "y": 0},
    }  # fmt: skip
    edges.append({"from": choose, "to": result, "on": "unknown"})
    # The number of names in an expression is limited, so several tasks read the tools' results.
    groups = [values[at : at + AT_ONCE] for at in range(0, len(values), AT_ONCE)]
    for place, group in enumerate(groups):
        tasks.append(
            _noop(f"{result}_{place}", "Its result", "{{ " + "".join(group) + "none }}", 3)
        )
        edges.append({"from": f"{result}_{place}", "to": result, "on": SUCCESS})
    value = f'"{_UNKNOWN}"'
    for place in range(len(groups)):
        state = f"tasks.{result}_{place}"
        value = f'{state}.output if {state}.outcome == "success" else {value}'
    message: Any = {
        "role": "tool", "toolCallId": "{{ item.id }}", "content": "{{ (" + value + ") | tojson }}",
    }  # fmt: skip
    if bare_result:
        message = "{{ " + value + " }}"
    told = _noop(result, "Result", message, 4)
    return tools, {"tasks": [switch, *tasks, told], "edges": edges}


def _noop(task: str, name: str, value: Any, column: int) -> dict[str, Any]:
    return {
        "id": task, "name": name, "use": "flow.noop", "with": {"value": value},
        "ui": {"x": column * WIDE, "y": 0},
    }  # fmt: skip


def _called(node: Node, taken: set[str]) -> str:
    given = node.parameters.get("name")
    plain = given if isinstance(given, str) and given and not is_expression(given) else node.name
    base = _NAME.sub("_", plain).strip("_")[:60] or "tool"
    found, number = base, 2
    while found in taken or found in ("unknown", "error"):
        found, number = f"{base}_{number}", number + 1
    return found


def _about(work: NodeWork, node: Node) -> str:
    for key in ("toolDescription", "description"):
        given = node.parameters.get(key)
        if isinstance(given, str) and given:
            return work.text(given)[:2000]
    words = [str(node.parameters.get(key, "")) for key in ("operation", "resource")]
    return work.text(f"{node.name}: {' '.join(words)} {node.kind}".replace("  ", " "))


def _schema(arguments: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": arguments}
    required = [name for name, one in arguments.items() if "default" not in one]
    return found | ({"required": required} if required else {})


def _argument(work: NodeWork, name: str, about: str = "", kind: str = "string") -> str:
    """Return the expression for an argument that the tool itself defines. Raises Left."""
    if work.sight.arguments is None:
        raise Left("it is a tool of an agent; connect it to one")
    described = {"description": bare(about)} if about else {}
    work.sight.arguments.setdefault(name, {"type": kind} | described)
    return f"item.arguments.{name}"


@family("toolWorkflow")
def tool_workflow(work: NodeWork) -> Made:
    """Make a `flow.subworkflow` task, whose payload has the tool's arguments. Raises Left."""
    values = work.get("workflowInputs.value")
    if isinstance(values, dict) and values:
        payload = work.value(values)
    elif work.get("specifyInputSchema") is True:
        payload = "{{ item.arguments }}"
        _argument(work, "query")
        work.remark("Its schema of arguments was not taken over: write it in the tool.")
    else:
        payload = {"query": "{{ " + _argument(work, "query", "The question.") + " }}"}
    for row in work.names("fields.values"):
        if isinstance(payload, dict) and row.get("name"):
            payload[str(row["name"])] = work.value(row.get("stringValue", row.get("value")))
    return subworkflow(work, payload)


@family("toolHttpRequest")
def tool_http(work: NodeWork) -> Made:
    """Make an `http.request` task; the names in braces are the tool's arguments."""
    known = {str(row.get("name")): row for row in work.names("placeholderDefinitions.values")}

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: fill(one) for key, one in value.items()}
        if isinstance(value, list):
            return [fill(one) for one in value]
        if not isinstance(value, str) or "{" not in value:
            return value

        def told(match: re.Match[str]) -> str:
            row = known.get(match[1], {})
            about = str(row.get("description") or "").replace("\\", "").replace("'", "")
            kind = (
                row.get("type") if row.get("type") in ("string", "number", "boolean") else "string"
            )
            text = about[:300].replace("\n", " ")
            return "{{ $fromAI('" + match[1] + "', '" + text + "', '" + str(kind) + "') }}"

        found = _HOLDER.sub(told, value) if "{{" not in value else value
        return found if found == value or found.startswith("=") else f"={found}"

    given: dict[str, Any] = {
        key: fill(one) for key, one in work.node.parameters.items()
        if key not in ("placeholderDefinitions", "toolDescription")
    }  # fmt: skip
    for what, key in (("Query", "parametersQuery"), ("Headers", "parametersHeaders"),
                      ("Body", "parametersBody")):  # fmt: skip
        rows = below(given, f"{key}.values")
        made = (
            [_row(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        )
        target = {"Query": "queryParameters", "Headers": "headerParameters",
                  "Body": "bodyParameters"}[what]  # fmt: skip
        if made:
            given[target] = {"parameters": made}
    work.node = replace(work.node, parameters=given)
    return http_request(work)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    name = str(row.get("name", ""))
    if str(row.get("valueProvider", "")).startswith("model"):
        return {"name": name, "value": "={{ $fromAI('" + _NAME.sub("_", name) + "') }}"}
    return {"name": name, "value": row.get("value", "")}


@family("toolThink")
def tool_think(work: NodeWork) -> Made:
    """Make a `flow.noop` task: the model stores a thought, which it can read later. Raises Left."""
    return work.made("flow.noop", {"value": "{{ " + _argument(work, "thought") + " }}"})


CALCULATOR = """import ast
import operator

SIGNS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}


def main(inputs):
    return worked_out(ast.parse(inputs["expression"].replace("^", "**"), mode="eval").body)


def worked_out(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp):
        return SIGNS[type(node.op)](worked_out(node.left), worked_out(node.right))
    if isinstance(node, ast.UnaryOp):
        return SIGNS[type(node.op)](worked_out(node.operand))
    raise ValueError("only numbers, signs and brackets are worked out")
"""


@family("toolCalculator")
def tool_calculator(work: NodeWork) -> Made:
    """Make a `python.code` task that evaluates an arithmetic expression. Raises Left."""
    about = "An arithmetic expression of numbers, + - * / % ** and brackets."
    value = "{{ " + _argument(work, "expression", about) + " }}"
    work.remark(f"{PYTHON} It knows no functions such as sqrt.")
    inputs = {"code": CALCULATOR, "inputs": {"expression": value}}
    return work.made("python.code", inputs, one(f"{work.output}.result"))


@family("toolWikipedia", "toolSerpApi")
def tool_search(work: NodeWork) -> Made:
    """Make an `http.request` task that searches Wikipedia, or Google with SerpAPI. Raises Left."""
    query = "{{ " + _argument(work, "query", "What to search for.") + " }}"
    if work.node.kind == "toolWikipedia":
        work.remark("It gave the articles' texts; the search's answer has their first sentences.")
        asked = {
            "action": "query", "list": "search", "srsearch": query, "srlimit": 5, "format": "json",
        }  # fmt: skip
        inputs: dict[str, Any] = {
            "method": "GET", "url": "https://en.wikipedia.org/w/api.php", "query": asked,
        }  # fmt: skip
    else:
        own = work.credential("secret") or work.secret("serpapi", "secret", "SerpAPI")
        key = "{{ secrets." + own + " }}"
        inputs = {
            "method": "GET", "url": "https://serpapi.com/search.json",
            "query": {"engine": "google", "q": query, "api_key": key},
        }  # fmt: skip
    return work.made("http.request", inputs, Shape(whole=f"{work.output}.body"))
