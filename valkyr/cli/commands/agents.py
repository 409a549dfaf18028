"""`valkyr mcp`: the installation's MCP server on standard input and output, for local clients."""

from typing import TYPE_CHECKING, Any

import click

from valkyr.cli.connecting import require
from valkyr.cli.errors import usage
from valkyr.cli.options import ApiCommand, Choices, Target, target

if TYPE_CHECKING:
    from mcp import Client
    from mcp.server.lowlevel import Server


@click.command(cls=ApiCommand, name="mcp")
@click.pass_obj
def mcp(choices: Choices) -> None:
    """Serve the installation's MCP tools on standard input and output.

    Use it for clients that start a command instead of calling a URL. The command passes each call
    to `/mcp` of the selected installation, with the selected token.
    """
    if choices.local:
        raise usage(
            "`valkyr mcp` needs a running installation, so it has no --local.",
            "Start the web process, then give --url or a profile.",
        )
    require("mcp", "Serving agents", extra="mcp")
    import asyncio

    asyncio.run(_serve(target(choices)))


async def _serve(where: Target) -> None:
    """Serve until the client closes standard input."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.stdio import stdio_server

    headers = {"Authorization": f"Bearer {where.token}"} if where.token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{where.url}/mcp", http_client=http)
        async with Client(transport) as client, stdio_server() as (reading, writing):
            server = passing_to(client)
            await server.run(reading, writing, server.create_initialization_options())


def passing_to(client: "Client") -> "Server[Any]":
    """Return a server that forwards `list_tools` and `call_tool` requests to another server."""
    from mcp.server.lowlevel import Server

    async def list_tools(context: Any, params: Any) -> Any:
        return await client.list_tools(
            cursor=params.cursor if params else None, cache_mode="bypass"
        )

    async def call_tool(context: Any, params: Any) -> Any:
        return await client.call_tool(params.name, params.arguments)

    return Server(
        "valkyr",
        title="Valkyr",
        instructions=client.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
