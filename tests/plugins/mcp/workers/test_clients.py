"""Tests of the SDK's official client, over HTTP and over the command `valkyr mcp`."""

import asyncio
import json
import os
import sys
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from .conftest import Operated


async def _over_http(operated: Operated, mode: str) -> tuple[list[str], Any]:
    headers = {"Authorization": f"Bearer {operated.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{operated.address}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:  # type: ignore[arg-type]
            return await _asked(client)


async def _by_command(operated: Operated) -> tuple[list[str], Any]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "valkyr", "mcp", "--url", operated.address],
        env={"PATH": os.environ["PATH"], "VALKYR_TOKEN": operated.token},
    )
    async with Client(command) as client:
        return await _asked(client)


async def _asked(client: Client) -> tuple[list[str], Any]:
    tools = await client.list_tools()
    answer = await client.call_tool("who_am_i", {})
    refused = await client.call_tool("get_workflow", {"workflowId": "seven"})
    assert refused.is_error
    text: Any = answer.content[0]
    return [tool.name for tool in tools.tools], json.loads(text.text)["result"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_lists_and_calls_tools(operated: Operated, mode: str) -> None:
    names, me = asyncio.run(_over_http(operated, mode))

    assert "explain_failure" in names
    assert me["username"] == "operator"
    assert me["writes"] == "proposals, which a user approves"


def test_the_command_passes_calls_to_the_installation(operated: Operated) -> None:
    names, me = asyncio.run(_by_command(operated))

    assert "explain_failure" in names
    assert me["username"] == "operator"
