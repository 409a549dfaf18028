"""Tools that start an exposed workflow, or propose to start it."""

from typing import Any

from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.exposing import exposed_to
from valkyr_plugins.mcp.in_process import ApiRefused
from valkyr_plugins.mcp.kinds import start
from valkyr_plugins.mcp.models import ProposalKind
from valkyr_plugins.mcp.tools.base import ToolCaller
from valkyr_plugins.mcp.tools.proposing import decided


def call(caller: ToolCaller, name: str, payload: dict[str, Any]) -> Any:
    """Start the workflow that the tool names, or propose it. Raises ApiRefused."""
    found = next((one for one in exposed_to(caller.api.user) if one.name == name), None)
    if found is None:
        raise ApiRefused(404, {"detail": f"There is no tool {name[:100]!r}. List the tools."})
    if found.direct:
        return start(caller.api, found.workflow_id, payload)
    arguments = {"workflowId": str(found.workflow_id), "input": payload}
    rationale = f"The agent called the tool {name}."
    return decided(caller, proposals.propose(caller.api, ProposalKind.START, arguments, rationale))
