"""Add cards, blocks and tables to the admin's home page and to the page of a workflow's figures."""

from dlq.admin.dashboard.blocks import Banner, BlockView, Card, HomeBlock, add_block
from dlq.admin.dashboard.cards import EXECUTIONS, cards
from dlq.admin.dashboard.gathering import KEPT_SECONDS, of_workflow
from dlq.admin.dashboard.lists import NOT_AVAILABLE
from dlq.admin.dashboard.sections import (
    WORKFLOW_SECTIONS,
    HomeSection,
    WorkflowSection,
    add_section,
)

__all__ = [
    "EXECUTIONS",
    "KEPT_SECONDS",
    "NOT_AVAILABLE",
    "WORKFLOW_SECTIONS",
    "Banner",
    "BlockView",
    "Card",
    "HomeBlock",
    "HomeSection",
    "WorkflowSection",
    "add_block",
    "add_section",
    "cards",
    "of_workflow",
]
