"""The settings of the MCP server."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class McpSettings(SettingsModel):
    """Settings of the plugin `mcp`."""

    title: ClassVar[str] = "MCP server for agents"

    mcp_proposal_hours: float = setting(
        72, "How long a proposal can be approved", unit="hours", gt=0, le=720
    )
    mcp_open_proposals: int = setting(
        100, "Maximum number of open proposals in a workspace", ge=1, le=10_000
    )
    keep_proposals_days: float = setting(
        90,
        "How long an approved, rejected or expired proposal is kept; 0: forever",
        unit="days",
        ge=0,
    )
