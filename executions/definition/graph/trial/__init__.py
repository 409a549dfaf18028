"""A draft becomes the definition of a test run: a part of it, with given results in place of tasks.

`section` says which tasks belong to it, `pins` what stands in place of those with a given result,
`making` puts the definition together. All of it is pure; the engine runs the result as any other.
"""

from executions.definition.graph.trial.asking import Pin, TrialRequest
from executions.definition.graph.trial.making import Trial, trial
from executions.definition.graph.trial.pins import PINNED, without_values

__all__ = ["PINNED", "Pin", "Trial", "TrialRequest", "trial", "without_values"]
