"""Add cards, blocks and tables to the admin's home page and to the page of a workflow's figures."""

from dlq.admin.dashboard.blocks import (
    WORKFLOW_SECTIONS,
    Banner,
    BlockView,
    Card,
    HomeBlock,
    HomeProblem,
    HomeSection,
    WorkflowSection,
    add_block,
    add_section,
)
from dlq.admin.dashboard.facts import KEPT_SECONDS, of_workflow
from dlq.admin.dashboard.panels import EXECUTIONS, NOT_AVAILABLE, cards

__all__ = [
    "EXECUTIONS",
    "KEPT_SECONDS",
    "NOT_AVAILABLE",
    "WORKFLOW_SECTIONS",
    "Banner",
    "BlockView",
    "Card",
    "HomeBlock",
    "HomeProblem",
    "HomeSection",
    "WorkflowSection",
    "add_block",
    "add_section",
    "cards",
    "of_workflow",
]
