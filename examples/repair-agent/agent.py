"""An agent that repairs failures by the MCP server alone, with a rule instead of a language model.

It explains each failure group, proposes a redrive that replaces one wrong value in the inputs,
waits for a user's approval, and follows the redrives until they end.

    VALKYR_TOKEN=vlk_… python agent.py http://127.0.0.1:8000/mcp UK=GB
"""

import asyncio
import json
import os
import re
import sys
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

PAUSE = 1.0  # seconds between two looks
FINAL = {"DONE", "STOPPED", "ABORTED"}


class Tools:
    """The tools of the MCP server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, name: str, **arguments: Any) -> Any:
        """Return a tool's result; raises RuntimeError for a refusal."""
        answer = await self._client.call_tool(name, arguments)
        found = json.loads(answer.content[0].text)  # type: ignore[union-attr]
        if answer.is_error:
            raise RuntimeError(f"{name}: {found['error']}")
        return found["result"]

    async def rows(self, name: str, **arguments: Any) -> list[Any]:
        """Return all rows of a list, page by page."""
        found: list[Any] = []
        cursor = None
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = await self.call(name, **arguments, **more)
            found += page["rows"]
            cursor = page["nextCursor"]
            if cursor is None:
                return found


def overrides_for(explained: dict[str, Any], wrong: str, right: str) -> dict[str, Any]:
    """Return the merge patch that replaces the wrong value where the failure has it."""
    patch: dict[str, Any] = {}
    for difference in explained["comparedWithLastSuccess"]["differences"] or []:
        path, after = difference["path"], difference["after"]
        if path.startswith("inputs.") and after == json.dumps(wrong):
            place = patch
            *parents, last = re.findall(r"[\w-]+", path)[1:]
            for name in parents:
                place = place.setdefault(name, {})
            place[last] = right
    return patch


async def propose(tools: Tools, wrong: str, right: str) -> list[str]:
    """Propose a redrive for each group that the replacement may repair; return the proposals."""
    found = []
    for group in await tools.rows("list_failure_groups", order="open"):
        if not group["open"]:
            continue
        explained = await tools.call("explain_failure", groupId=group["id"])
        overrides = overrides_for(explained, wrong, right)
        if not overrides:
            print(f"group {group['id']}: the cause is unknown")
            continue
        proposal = await tools.call(
            "propose_redrive",
            groupId=group["id"],
            overrides=overrides,
            rationale=f"The input {wrong!r} is rejected; the last successful run had another.",
        )
        print(f"proposed {proposal['id']}: {proposal['title']}")
        found.append(proposal["id"])
    return found


async def approved(tools: Tools, proposal_id: str) -> str | None:
    """Wait for the decision; return the redrive, or None if it was not approved."""
    while True:
        proposal = await tools.call("get_proposal", proposalId=proposal_id)
        if proposal["state"] == "APPROVED":
            return str(proposal["result"]["redriveId"])
        if proposal["state"] != "PENDING":
            print(f"{proposal_id} was {proposal['state']}: {proposal['decisionReason']}")
            return None
        await asyncio.sleep(PAUSE)


async def followed(tools: Tools, redrive_id: str) -> None:
    """Wait until the redrive ends, and print its counts."""
    while True:
        redrive = await tools.call("get_redrive", redriveId=redrive_id)
        if redrive["state"] in FINAL:
            done = redrive["progress"]
            print(
                f"{redrive['state']}: {done['succeeded']} succeeded, {done['failedAgain']} failed"
            )
            return
        await asyncio.sleep(PAUSE)


async def main(address: str, wrong: str, right: str) -> None:
    """Work until nothing is left to do."""
    headers = {"Authorization": f"Bearer {os.environ['VALKYR_TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        tools = Tools(client)
        for proposal_id in await propose(tools, wrong, right):
            if redrive_id := await approved(tools, proposal_id):
                await followed(tools, redrive_id)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *sys.argv[2].split("=", 1)))
