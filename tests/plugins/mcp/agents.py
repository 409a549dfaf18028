"""An agent that sends MCP messages to Django in the test process, without a server."""

import json
from dataclasses import dataclass
from typing import Any

from rest_framework.test import APIClient

VERSION = "2025-11-25"


@dataclass(frozen=True)
class Said:
    """The answer of a tool."""

    refused: bool
    text: str

    @property
    def value(self) -> Any:
        """Return the result, or the problem of a rejected call."""
        found = json.loads(self.text)
        return found["error"] if self.refused else found["result"]


@dataclass(frozen=True)
class Agent:
    """An agent with a token."""

    token: str

    def send(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        """Send one message and return the response."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return APIClient().post(
            "/mcp",
            message,
            format="json",
            headers={
                "Authorization": f"Bearer {self.token}",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": VERSION,
                **headers,
            },
        )

    def tools(self) -> dict[str, Any]:
        """Return the tools by name."""
        found = self.send("tools/list").json()
        return {tool["name"]: tool for tool in found["result"]["tools"]}

    def call(self, name: str, /, **arguments: Any) -> Said:
        """Call a tool and return its answer."""
        response = self.send("tools/call", {"name": name, "arguments": arguments})
        assert response.status_code == 200, response.content
        result = response.json()["result"]
        return Said(result.get("isError", False), result["content"][0]["text"])
