"""`mcp.call` and `mcp.tools`: call a tool of an MCP server, and list the server's tools.

mcp_session.py communicates with the server.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import Field

from runners.public.modules import Bad, Module, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.network.request_parts import MEBIBYTE, AddressedInputs, target

SERVER = "https://mcp.example.com/mcp"
LOCAL = "http://127.0.0.1:1/mcp"


class McpInputs(AddressedInputs):
    """The address of an MCP server, and the limit for its responses."""

    timeout_seconds: float | None = Field(
        None,
        gt=0,
        description="Timeout in seconds for all requests of the step together; at most the step's "
        "timeout.",
        examples=[10],
    )
    max_bytes: int = Field(
        4 * MEBIBYTE,
        ge=1,
        le=16 * MEBIBYTE,
        description="A response with more bytes than this fails the step.",
    )


class McpCallInputs(McpInputs):
    """The tool, its arguments and the server."""

    tool: str = Field(
        min_length=1, max_length=200, description="The tool's name.", examples=["find_order"]
    )
    arguments: dict[str, Any] = Field(
        default_factory=dict,
        description="The tool's arguments, which must match its input schema.",
        examples=[{"number": "{{ input.orderNumber }}"}],
    )
    on_tool_error: Literal["fail", "return"] = Field(
        "fail",
        description=(
            "The effect of an error that the tool itself reports. `fail`: the step fails "
            "permanently. `return`: the step succeeds with `isError: true`."
        ),
    )


class McpCallOutputs(ModuleOutputs):
    """The tool's result."""

    text: str = Field(description="The texts of the result, joined by line breaks.")
    structured: Any = Field(description="The structured result; null if the tool returned none.")
    content: list[Any] = Field(description="All parts of the result, as the server sent them.")
    is_error: bool = Field(description="Whether the tool reports an error.")


InputsT = TypeVar("InputsT", bound=McpInputs)


class McpModule(Module[InputsT]):
    """The base class of steps that call one MCP server."""

    category: ClassVar[str] = "language models"
    queue: ClassVar[str] = "io"
    credential: ClassVar[tuple[str, ...]] = ("bearer", "basic")
    judges_hosts: ClassVar[str] = "everything"
    addresses: ClassVar[tuple[str, ...]] = ("url",)
    circuit_target: ClassVar[str] = "`mcp:` and the host, with the port if it is not the default"

    def circuit(self, inputs: InputsT) -> str | None:
        return target(inputs.url, "mcp")

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.agents.mcp_session  # noqa: F401 - loads mcp and httpx


class McpCall(McpModule[McpCallInputs]):
    """Calls one tool of an MCP server over streamable HTTP and returns its result.

    MCP is the Model Context Protocol. A credential of type bearer or basic becomes the
    Authorization header. Private and special addresses are rejected unless an administrator allows
    their range. The step is retried if the server is unreachable, reports an internal error, or
    answers 408, 425, 429 or 5xx. Errors such as an unknown tool, wrong arguments or a failed tool
    are permanent. The call's `_meta["valkyr/idempotencyKey"]` contains the step's idempotency key.
    After a crash, a tool may be called twice with this key.
    """

    type = "mcp.call"
    title = "Call an MCP tool"
    Inputs = McpCallInputs
    Outputs: ClassVar[Any] = McpCallOutputs
    effect: ClassVar[str] = "external"
    example: ClassVar[Mapping[str, Any]] = {
        "url": SERVER,
        "tool": "find_order",
        "arguments": {"number": "{{ input.orderNumber }}"},
    }
    bad_inputs = (
        Bad("no tool", {"url": SERVER, "tool": ""}, "tool"),
        Bad("arguments in a list", {"url": SERVER, "tool": "t", "arguments": [1]}, "arguments"),
        Bad("an address of another scheme", {"url": "stdio://run", "tool": "t"}, "http://"),
        Bad("a private address", {"url": LOCAL, "tool": "t"}, "a private or special address"),
    )

    def execute(self, inputs: McpCallInputs, ctx: StepContext) -> Result:
        # Imported here because the SDK is slow to load and most workers never call a tool.
        from valkyr_plugins.connectors.agents.mcp_session import call_tool

        return Result(call_tool(inputs, ctx))


class McpToolsInputs(McpInputs):
    """The server, and the names of the tools to list."""

    only: list[str] = Field(
        default_factory=list,
        max_length=100,
        description="Names of the tools to return; by default all. A missing tool fails the step.",
        examples=[["find_order", "refund"]],
    )


class McpTool(ModuleOutputs):
    """A tool, in the form that `llm.chat` and `llm.agent` accept."""

    name: str = Field(description="The tool's name.")
    description: str = Field(description="The server's description of the tool.")
    parameters: dict[str, Any] = Field(description="The JSON Schema of its arguments.")


class McpToolsOutputs(ModuleOutputs):
    """The server's tools."""

    tools: list[McpTool] = Field(description="The tools, in the server's order.")


class McpTools(McpModule[McpToolsInputs]):
    """Lists the tools of an MCP server, in the form that `llm.agent` and `llm.chat` accept.

    The server, credentials, limits and retries are as in `mcp.call`. If the server has more than
    100 tools, the step fails unless you list the tools that you need in `only`. A tool's name must
    have 1 to 64 characters: letters, digits, `_` and `-`. A tool with an invalid name fails the
    step, unless `only` excludes the tool.
    """

    type = "mcp.tools"
    title = "List MCP tools"
    Inputs = McpToolsInputs
    Outputs: ClassVar[Any] = McpToolsOutputs
    example: ClassVar[Mapping[str, Any]] = {"url": SERVER, "only": ["find_order"]}
    bad_inputs = (
        Bad("an address of another scheme", {"url": "file:///run"}, "http://"),
        Bad("a private address", {"url": LOCAL}, "a private or special address"),
    )

    def execute(self, inputs: McpToolsInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.agents.mcp_session import list_tools

        return Result({"tools": list_tools(inputs, ctx)})
