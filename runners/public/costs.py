"""Receive the costs of attempts in the transactions that record the attempts, and sum the costs."""

from runners.ports import record_costs, spent_by
from runners.segment.context import SegmentContext
from runners.segment.work import Cost, Unit, Work

__all__ = [
    "Cost",
    "SegmentContext",
    "Unit",
    "Work",
    "record_costs",
    "spent_by",
]
