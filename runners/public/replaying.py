"""Compute an execution again in memory, from recorded results: pure steps, loops and maps."""

from executions.payload_store.reading import size_of as stored_bytes
from runners.containers.iteration_results import collected, holds, sink_paths
from runners.containers.iterations import failed_in, goes_on
from runners.containers.loops_and_maps import empty, loop_output, open_loop, open_map, too_often
from runners.failures.classification import Failure
from runners.modules.base import StepError
from runners.modules.registry import UnknownModule
from runners.pipeline.execute import failure_of, run_module, seconds_for
from runners.planning.finish import render_output
from runners.segment.step_context import Context, StepTimeout, time_limit
from runners.segment.stored_results import read as load_stored
from runners.segment.template_data import (
    ResultSource,
    TemplateData,
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
    "empty",
    "failed_in",
    "failure_of",
    "goes_on",
    "holds",
    "last_paths",
    "load_stored",
    "loop_output",
    "open_loop",
    "open_map",
    "outputs_of_turn",
    "reads_of",
    "render_output",
    "run_module",
    "seconds_for",
    "sink_paths",
    "stored_bytes",
    "task_paths",
    "time_limit",
    "too_often",
]
