"""`DurableTask`: a task whose calls are executions, started in the caller's transaction.

    @shared_task(base=valkyr.DurableTask)
    def charge(order): ...

    charge.delay(7)

Importing this module loads no models.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from celery import Task

from valkyr_plugins.canvas.durable import start, start_many
from valkyr_plugins.canvas.results import DurableResult
from valkyr_plugins.canvas.steps import packed_arguments
from valkyr_plugins.canvas.translation import translate

# Options that Celery itself sets if the call is part of a plain canvas or a retry of one.
OF_A_CANVAS = frozenset({"chain", "chord", "group_id", "retries"})


class DurableTask(Task):  # type: ignore[type-arg] # Celery's class has no parameters at run time
    """The base class of tasks whose `delay` and `apply_async` start durable executions."""

    abstract = True

    def apply_async(  # type: ignore[override] # other parameters, and no AsyncResult
        self,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        task_id: str | None = None,
        producer: Any = None,
        link: Any = None,
        link_error: Any = None,
        **options: Any,
    ) -> Any:
        """Start an execution of this task; return a DurableResult.

        A `task_id` is the idempotency key: equal calls with the same ID start one execution. Inside
        a plain canvas, and with `task_always_eager`, Celery's own method runs. Raises
        UntranslatableError for options that have no durable form, TypeError for invalid arguments,
        and KeyReused for a `task_id` of a call with other arguments.
        """
        options |= {"link": link, "link_error": link_error}
        if self._is_celerys(options):
            plain: Any = super().apply_async
            return plain(args, kwargs, task_id=task_id, producer=producer, **options)
        self._check_arguments(args or (), kwargs or {})
        given = {key: value for key, value in options.items() if value is not None}
        signature = self.signature(tuple(args or ()), dict(kwargs or {}), **given)
        return start(translate(signature), task_id, None)

    def delay_many(self, calls: Iterable[Sequence[Any]]) -> list[DurableResult]:
        """Start one execution per call; a call is a sequence of positional arguments.

        Return the results in the order of the calls. Starts at most 1,000 executions, all or none,
        with a few statements. Raises the errors of `apply_async`.
        """
        every = [tuple(args) for args in calls]
        if not every:
            return []
        for args in every:
            self._check_arguments(args, {})
        shape = translate(self.signature(every[0]))
        inputs = [packed_arguments(self.name, {"args": args, "kwargs": {}}) for args in every]
        first = shape.payload["calls"][0]
        return start_many(shape, [{"calls": [first | one]} for one in inputs])

    def _check_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise TypeError for arguments that the function does not accept, as Celery does."""
        if self.typing and hasattr(self, "__header__"):
            self.__header__(*args, **kwargs)

    def _is_celerys(self, options: Mapping[str, Any]) -> bool:
        eager = self.app.conf.task_always_eager
        return bool(eager) or not OF_A_CANVAS.isdisjoint(options)
