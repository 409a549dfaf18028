"""Error callbacks (`link_error`), which run in the failed task's worker or as executions.

A callback with several arguments gets the request, the exception and the traceback, and runs in the
failed task's worker. Others run as executions and, unless immutable, get the failed task's ID.
"""

from collections.abc import Iterable
from typing import Any

from celery import Celery
from celery.utils.functional import arity_greater
from pydantic import Field

from executions.public.messaging import celery_app
from runners.public.modules import ModuleInputs, StepContext


class Errback(ModuleInputs):  # type: ignore[no-redef] # from pydantic's mypy plugin
    """A task to call after another task fails permanently."""

    task: str = Field(description="The task's name in the Celery app.", examples=["shop.tell"])
    args: list[Any] = Field(default=[], description="The task's positional arguments.")
    kwargs: dict[str, Any] = Field(default={}, description="The task's keyword arguments.")
    immutable: bool = Field(
        default=False, description="Whether the callback gets no details of the failure."
    )

    def signature(self, app: Celery) -> Any:
        """Return the errback as Celery's signature."""
        return app.signature(
            self.task, args=self.args, kwargs=self.kwargs, immutable=self.immutable
        )


def inline(errback: Errback) -> bool:
    """Return whether Celery's tracer calls the errback, in the process in which the task failed."""
    task = celery_app().tasks.get(errback.task)
    header = getattr(task, "__header__", None)
    return header is not None and bool(arity_greater(header, 1))


def call_later(errbacks: Iterable[Errback], task_id: str, ctx: StepContext) -> None:
    """Start a durable execution for each errback that is not inline, once per attempt."""
    from valkyr_plugins.canvas.durable import durable

    for number, one in enumerate(errbacks):
        if not inline(one):
            signature = one.signature(celery_app())
            told = signature if one.immutable else signature.clone((task_id,))
            durable(told).start(key=f"errback {task_id} {ctx.attempt} {number}")
