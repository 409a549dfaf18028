"""Make the definition of a test run: a draft or a part of it, with pinned results.

`section` selects the tasks, `request` has the requested part and the pinned results, and `build`
assembles the definition. None of these does I/O; the engine runs the result like any other
definition.
"""

from executions.definition.graph.trial.build import Trial, trial
from executions.definition.graph.trial.request import PINNED, Pin, TrialRequest, without_values

__all__ = ["PINNED", "Pin", "Trial", "TrialRequest", "trial", "without_values"]
