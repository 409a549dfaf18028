"""`llm.tool_call` and `llm.tool_result`: the steps before and after a tool that a model calls.

`llm.agent` writes them into its body. Both are pure: their results depend only on their inputs.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from executions.public.definitions import OutcomeRule
from executions.public.schemas import REQUEST
from runners.public.modules import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.ai.chat import Tool
from valkyr_plugins.connectors.ai.conversation import CalledTool
from valkyr_plugins.connectors.data.validate import require_fit, require_schema

INVALID = "invalid"
SUMMARY = 4_000  # maximum characters of the arguments that approvers of a call see
MAX_RESULT = 20_000
SAID = 2_000  # maximum characters of an error that the model sees


class OfferedTool(Tool):
    """A tool as the agent's model sees it, and the task that runs the tool."""

    task: str | None = Field(
        None,
        description="The task that runs the tool; by default the one whose id is the tool's name.",
        examples=["orders"],
    )

    @property
    def runs(self) -> str:
        """Return the ID of the task that runs the tool."""
        return self.task or self.name


class Toolset(ModuleInputs):
    """Tools that the workflow lists while it runs, such as an MCP server's tools."""

    task: str = Field(
        description="The task that runs the tools; it reads the tool's name from `item.name`.",
        examples=["shop"],
    )
    tools: list[Tool] = Field(
        description="The tools.", examples=["{{ tasks.list.output.tools }}"], max_length=100
    )


class ToolCallInputs(ModuleInputs):
    """The call, and the tools that the model may call."""

    call: CalledTool = Field(
        description="A call from the `toolCalls` of an answer.", examples=["{{ item }}"]
    )
    tools: list[OfferedTool] = Field(
        default_factory=list, description="The tools that the model may call."
    )
    toolsets: list[Toolset] = Field(
        default_factory=list,
        description="Further sets of tools, each with the task that runs its tools.",
    )
    routes: list[str] = Field(
        description="The ids of the tasks that run tools; each id is an outcome.",
        examples=[["find_order"]],
    )


class ToolCallOutputs(ModuleOutputs):
    """The checked call, and its error for the model, if any."""

    name: str = Field(description="The tool's name.")
    arguments: Any = Field(description="The call's arguments.")
    error: str = Field(
        description="The mistake in the call, described for the model; empty if there is none."
    )
    summary: str = Field(description="The tool and its arguments, for the call's approver.")


class ToolCallCheck(Module[ToolCallInputs]):
    """Checks a model's tool call and chooses the task that runs the tool.

    If the call is valid, the outcome is that task's id; otherwise it is `invalid`. A call is
    invalid if the tool does not exist, or if the arguments are not JSON or do not match the tool's
    schema. In this case, `error` describes the mistake for the model. The module `llm.agent` adds
    this step to its body. You can also use the step in your own loops.
    """

    type = "llm.tool_call"
    title = "Check a tool call"
    category = "language models"
    computes = True
    takes_secrets = False
    retry = "none"
    Inputs = ToolCallInputs
    Outputs: ClassVar[Any] = ToolCallOutputs
    outcomes_from: ClassVar[tuple[OutcomeRule, ...]] = (
        OutcomeRule("routes", "each"),
        OutcomeRule("routes", "given", (INVALID,)),
    )
    example: ClassVar[Mapping[str, Any]] = {
        "call": {"id": "call_1", "name": "find_order", "argumentsText": '{"number": "7"}'},
        "tools": [{"name": "find_order", "description": "Finds an order."}],
        "routes": ["find_order"],
    }
    bad_inputs = (
        Bad("no call", {"routes": ["a"], "tools": []}, "call"),
        Bad(
            "a tool whose schema is not one",
            {
                "call": {"id": "1", "name": "a", "arguments": {}},
                "tools": [{"name": "a", "parameters": {"type": "text"}}],
                "routes": ["a"],
            },
            "not a JSON Schema, at type",
        ),
    )

    def execute(self, inputs: ToolCallInputs, ctx: StepContext) -> Result:
        call, known = inputs.call, _known(inputs)
        found = known.get(call.name)
        arguments = call.arguments
        if found is None:
            error = f"There is no tool {call.name!r}. The tools are: {', '.join(known) or 'none'}."
        elif arguments is None:
            error = "The arguments are not valid JSON. Call the tool again with a JSON object."
        else:
            error = _misfit(arguments, found[0])
        outputs = {
            "name": call.name,
            "arguments": arguments,
            "error": error,
            "summary": f"{call.name}({_text(arguments)})"[:SUMMARY],
        }
        return Result(outputs, INVALID if found is None or error else found[1])


def _known(inputs: ToolCallInputs) -> dict[str, tuple[Tool, str]]:
    found: dict[str, tuple[Tool, str]] = {}
    for toolset in inputs.toolsets:
        found |= {tool.name: (tool, toolset.task) for tool in toolset.tools}
    return found | {tool.name: (tool, tool.runs) for tool in inputs.tools}


def _misfit(arguments: Any, tool: Tool) -> str:
    require_schema(tool.parameters, REQUEST)
    try:
        require_fit(arguments, tool.parameters, REQUEST)
    except StepError as error:
        if error.details is None:  # the schema is invalid, so other arguments would not help
            raise
        return f"Wrong arguments: {error.message}. Call the tool again."[:SAID]
    return ""


class EndedTool(ModuleInputs):
    """The outcome, output and error of a tool's task."""

    outcome: str = Field("", description="Its outcome; empty or `skipped` if it did not run.")
    output: Any = Field(None, description="Its output.")
    error: Any = Field(None, description="Its error, if it failed.")

    @property
    def ran(self) -> bool:
        """Return whether the tool's task ran."""
        return self.outcome not in ("", "skipped")


class ToolResultInputs(ModuleInputs):
    """The call, and the results of the tools' tasks and of their approvals."""

    call: CalledTool = Field(description="The call.", examples=["{{ item }}"])
    error: str = Field("", description="The mistake in the call.")
    results: dict[str, EndedTool] = Field(
        description="The result of each tool's task, by the task's id.",
        examples=[{"find_order": {"outcome": "success", "output": {"total": 12}}}],
    )
    approvals: dict[str, EndedTool] = Field(
        default_factory=dict,
        description="The result of each tool's approval, by the id of the tool's task.",
    )
    max_characters: int = Field(
        MAX_RESULT,
        ge=100,
        le=1_000_000,
        description="A result with more characters than this is cut off.",
    )


class ToolResultOutputs(ModuleOutputs):
    """The message that passes the tool's result to the model."""

    role: str = Field(description="Always `tool`.")
    tool_call_id: str = Field(description="The call's id.")
    content: str = Field(description="The result as JSON or text, or the error.")


class ToolResult(Module[ToolResultInputs]):
    """Creates the message that passes a tool's result to the model.

    The message contains the result, or an error if the call was wrong, was not approved, or failed.
    The module `llm.agent` adds this step to its body. You can also use the step in your own loops.
    """

    type = "llm.tool_result"
    title = "Tool result"
    category = "language models"
    inline = True
    retry = "none"
    timeout_seconds = 10.0
    Inputs = ToolResultInputs
    Outputs: ClassVar[Any] = ToolResultOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "call": {"id": "call_1", "name": "find_order"},
        "results": {"find_order": {"outcome": "success", "output": {"total": 12}}},
    }
    bad_inputs = (
        Bad("no call", {"results": {}}, "call"),
        Bad(
            "a limit that is too low",
            {"call": {"id": "1", "name": "a"}, "results": {}, "maxCharacters": 1},
            "maxCharacters",
        ),
    )

    def execute(self, inputs: ToolResultInputs, ctx: StepContext) -> Result:
        text, most = _said(inputs), inputs.max_characters
        if len(text) > most:
            text = f"{text[:most]}\n[cut off: {len(text):,} characters, {most:,} are shown]"
        return Result({"role": "tool", "toolCallId": inputs.call.id, "content": text})


def _said(inputs: ToolResultInputs) -> str:
    if inputs.error:
        return f"Error: {inputs.error}"
    ended = next((one for one in inputs.results.values() if one.ran), None)
    if ended is not None:
        return _failure(ended.error) if ended.error is not None else _text(ended.output)
    decided = next((one for one in inputs.approvals.values() if one.ran), None)
    if decided is not None:
        comment = decided.output.get("comment", "") if isinstance(decided.output, dict) else ""
        return f"Error: a person did not approve this call ({decided.outcome}). {comment}".strip()
    return "Error: the tool did not run."


def _failure(error: Any) -> str:
    message = error.get("message", "") if isinstance(error, dict) else str(error)
    return f"Error: {message}"[:SAID]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
