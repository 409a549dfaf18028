"""The URLs of the MCP server and of proposals."""

from django.urls import path

from valkyr_plugins.mcp import api, endpoint

PROPOSAL = "v1/Proposal/<uuid:id>"

urlpatterns = [
    path("mcp", endpoint.McpServer.as_view(), name="valkyr-mcp"),
    path("v1/Workflow/<uuid:id>/tool", api.ExposeWorkflow.as_view(), name="valkyr-workflow-tool"),
    path("v1/Proposal", api.Proposals.as_view(), name="valkyr-proposals"),
    path(PROPOSAL, api.OneProposal.as_view(), name="valkyr-proposal"),
    path(f"{PROPOSAL}/preview", api.PreviewProposal.as_view(), name="valkyr-proposal-preview"),
    path(f"{PROPOSAL}/approve", api.ApproveProposal.as_view(), name="valkyr-proposal-approve"),
    path(f"{PROPOSAL}/reject", api.RejectProposal.as_view(), name="valkyr-proposal-reject"),
]
