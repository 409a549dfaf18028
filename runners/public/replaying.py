"""Compute an execution again in memory, from recorded results: pure steps, loops and maps."""

from runners.containers.iteration_results import collected, holds, sink_paths
from runners.containers.iterations import failed_in, goes_on
from runners.containers.loops_and_maps import empty, open_loop, open_map, too_often
from runners.failures.classification import Failure
from runners.modules.base import StepError
from runners.modules.registry import UnknownModule
from runners.pipeline.execute import failure_of, run_module, seconds_for
from runners.segment.step_context import Context, StepTimeout, time_limit
from runners.segment.template_data import (
    ResultSource,
    TemplateData,
    described,
    last_paths,
    outputs_of_turn,
    reads_of,
    task_paths,
)
from runners.segment.work import Done

__all__ = [
    "Context",
    "Done",
    "Failure",
    "ResultSource",
    "StepError",
    "StepTimeout",
    "TemplateData",
    "UnknownModule",
    "collected",
    "described",
    "empty",
    "failed_in",
    "failure_of",
    "goes_on",
    "holds",
    "last_paths",
    "open_loop",
    "open_map",
    "outputs_of_turn",
    "reads_of",
    "run_module",
    "seconds_for",
    "sink_paths",
    "task_paths",
    "time_limit",
    "too_often",
]
