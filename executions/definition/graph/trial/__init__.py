"""A draft becomes the definition of a test run: a part of it, with given results in place of tasks.

`section` says which tasks belong to it, `request` what was asked for and what stands in place of
tasks with a given result, `build` puts the definition together. All of it is pure; the engine runs
the result as any other.
"""

from executions.definition.graph.trial.build import Trial, trial
from executions.definition.graph.trial.request import PINNED, Pin, TrialRequest, without_values

__all__ = ["PINNED", "Pin", "Trial", "TrialRequest", "trial", "without_values"]
