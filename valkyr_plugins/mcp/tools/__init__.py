"""The tools of the MCP server; at most 25, so that an agent can choose among them."""

from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.tools import backtesting, failures, proposing, reading
from valkyr_plugins.mcp.tools.base import AgentTool

MOST_TOOLS = 25
TOOLS: dict[str, AgentTool] = {
    tool.name: tool
    for tool in (*reading.TOOLS, *backtesting.TOOLS, *failures.TOOLS, *proposing.TOOLS)
}


def offered(api: InProcessApi) -> list[AgentTool]:
    """Return the tools whose operations this installation has."""
    return [tool for tool in TOOLS.values() if tool.offered(api)]
