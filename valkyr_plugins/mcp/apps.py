"""The Django app of the plugin `mcp`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig
from valkyr_plugins.mcp.conf import McpSettings


class McpConfig(PluginConfig):
    """An MCP server for agents; users approve changes, unless a token's scopes allow them."""

    name = "valkyr_plugins.mcp"
    label = "valkyr_mcp"
    verbose_name = "MCP server"
    settings_class = McpSettings
    api = "valkyr_plugins.mcp.urls"
    api_tags = {"Proposal": "Changes that agents propose, and users approve or reject."}
    api_enums = {
        "ProposalKind": "valkyr_plugins.mcp.models.ProposalKind",
        "ProposalState": "valkyr_plugins.mcp.models.ProposalState",
    }
    schedule = {
        "valkyr: proposals": {"task": "valkyr_mcp.expire", "every": timedelta(minutes=1)},
    }

    def ready(self) -> None:
        """Let retention delete old proposals."""
        from valkyr_plugins.mcp import hooks  # noqa: F401 - registers on import
