"""Queues on which a module cannot run: those of remote runners, and those served by threads."""

from collections.abc import Iterator
from typing import Any

from executions.definition.catalog import ModuleSpec
from executions.definition.graph.limits import Limits
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading


def queue_problems(reading: BodyReading, limits: Limits) -> Iterator[DefinitionProblem]:
    """Modules whose queue is chosen in the definition and does not suit them."""
    for task in reading.tasks:
        for module in task.modules:
            own: Any = module.document.get("queue", task.document.get("queue"))
            if module.spec is None or not isinstance(own, str):
                continue
            stands = module.pointer if "queue" in module.document else task.pointer
            if own in limits.remote_queues and (reason := _ours(module.spec)):
                message = (
                    f'the queue "{own}" is worked by remote runners, and "{module.type}" {reason}: '
                    "leave its queue out"
                )
                yield problem((*stands, "queue"), "not_remote", message)
            # Steps there wait for others, hundreds in one process: this one would stop them all.
            if own in limits.thread_queues and module.spec.computes:
                message = (
                    f'the queue "{own}" is served by threads of one process, and "{module.type}" '
                    "computes, which would stop the other steps there: leave its queue out"
                )
                yield problem((*stands, "queue"), "computes", message)


def _ours(spec: ModuleSpec) -> str:
    if spec.container:
        return "holds a body that the engine runs"
    if spec.waits:
        return "waits, which is the engine's own business"
    return "is done by the engine itself" if spec.inline else ""
