"""Queues of remote runners: what the engine does itself cannot be sent there."""

from collections.abc import Iterator
from typing import Any

from executions.catalog import ModuleSpec
from executions.graph.limits import Limits
from executions.graph.problem import Problem, problem
from executions.graph.reading import BodyReading


def remote_problems(reading: BodyReading, limits: Limits) -> Iterator[Problem]:
    """Modules that only a worker of ours can do, on a queue of remote runners."""
    for task in reading.tasks:
        for module in task.modules:
            own: Any = module.document.get("queue", task.document.get("queue"))
            if module.spec is None or own not in limits.remote_queues:
                continue
            if reason := _ours(module.spec):
                stands = module.pointer if "queue" in module.document else task.pointer
                message = (
                    f'the queue "{own}" is worked by remote runners, and "{module.type}" {reason}: '
                    "leave its queue out"
                )
                yield problem((*stands, "queue"), "not_remote", message)


def _ours(spec: ModuleSpec) -> str:
    if spec.container:
        return "holds a body that the engine runs"
    if spec.waits:
        return "waits, which is the engine's own business"
    return "is done by the engine itself" if spec.inline else ""
