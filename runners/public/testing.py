"""Run workflows in a test, on the real engine, without a broker or a worker."""

from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun

__all__ = [
    "Valkyr",
    "WorkflowRun",
]
