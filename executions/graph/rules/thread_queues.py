"""Queues whose workers run steps as threads of one process take no module that computes."""

from collections.abc import Iterator
from typing import Any

from executions.graph.limits import Limits
from executions.graph.problem import Problem, problem
from executions.graph.reading import BodyReading


def thread_queue_problems(reading: BodyReading, limits: Limits) -> Iterator[Problem]:
    """Modules that compute in memory, on a queue for steps that wait for other systems.

    One of them would hold up every other step of the worker for as long as it computes.
    """
    for task in reading.tasks:
        for module in task.modules:
            queue: Any = module.document.get("queue", task.document.get("queue"))
            if module.spec is None or queue not in limits.thread_queues:
                continue
            if module.spec.inline or module.spec.container:
                stands = module.pointer if "queue" in module.document else task.pointer
                message = (
                    f'the queue "{queue}" runs many steps in one process, and "{module.type}" '
                    f'computes: step "{task.id}.{module.id}" would hold up all others. Leave the '
                    'queue out, or use "default"'
                )
                yield problem((*stands, "queue"), "computes_on_threads", message)
