"""Render the inputs of recorded steps again, from recorded results and within a time limit."""

from runners.planning.plan_from_rows import facts_of
from runners.segment.context import SegmentContext
from runners.segment.inputs import Prepared, merged, prepare
from runners.segment.step_context import StepTimeout, time_limit
from runners.segment.template_data import TemplateData, described, reads_of, results_of, task_paths

__all__ = [
    "Prepared",
    "SegmentContext",
    "StepTimeout",
    "TemplateData",
    "described",
    "facts_of",
    "merged",
    "prepare",
    "reads_of",
    "results_of",
    "task_paths",
    "time_limit",
]
