"""`@workflow`: trace a function once, at its declaration, and build the document that runs."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, overload

from valkyr_plugins.python_workflows.inputs import WorkflowInput
from valkyr_plugins.python_workflows.tracing import places
from valkyr_plugins.python_workflows.tracing.document import SCHEMA, tasks_of
from valkyr_plugins.python_workflows.tracing.handles import facts_of
from valkyr_plugins.python_workflows.tracing.options import Span, seconds
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.trace import Trace, is_tracing
from valkyr_plugins.python_workflows.triggers import Trigger, triggers_of

if TYPE_CHECKING:
    from executions.public.starting import Handle
    from runners.public.testing import WorkflowRun

P = ParamSpec("P")
R = TypeVar("R")

DECLARED: "list[PythonWorkflow[..., Any]]" = []
"""Every workflow that this process has declared, in the order of the declarations."""

_MODEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}")


class PythonWorkflow(Generic[P, R]):
    """A workflow written as a function."""

    def __init__(self, function: Callable[P, R], facts: Mapping[str, Any]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.slug = str(facts.get("name") or function.__name__.replace("_", "-"))
        self.line = function.__code__.co_firstlineno
        self._facts = facts
        self._place = f"{function.__code__.co_filename}:{self.line}"
        self._check()
        self.input = WorkflowInput(function, facts.get("input"), function.__name__)
        self._trace = Trace()
        self._result = self._traced()
        self._definition: dict[str, Any] | None = None
        DECLARED.append(self)

    @property
    def origin(self) -> str:
        """Return the workflow's function, as `module:function`."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    @property
    def definition(self) -> dict[str, Any]:
        """Return the document, as in `workflow.yaml`."""
        if self._definition is None:
            self._definition = self._document()
        return self._definition

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Raise TypeError, or TracingError in a trace; use `start`, `run_here` or sub() instead."""
        if is_tracing():
            raise TracingError(
                f"to run a workflow as a step, write sub({self.__name__})(…); to call a plain "
                "function with steps, remove its @workflow"
            )
        raise TypeError(
            f"{self.__name__} is a workflow: start it with {self.__name__}.start(…), or in a "
            f"test with {self.__name__}.run_here(…)"
        )

    @overload
    def start(self, *args: P.args, **kwargs: P.kwargs) -> "Handle": ...
    @overload
    def start(
        self, *args: Any, key: str, priority: int | None = None, **kwargs: Any
    ) -> "Handle": ...
    @overload
    def start(self, *args: Any, priority: int, **kwargs: Any) -> "Handle": ...
    def start(self, *args: Any, **kwargs: Any) -> "Handle":
        """Start an execution with these arguments, in the caller's transaction if there is one.

        If an earlier start used `key`, return its execution instead. `priority` is 0 (last) to 9
        (first). Raises TypeError for invalid arguments, and the errors of `start_from_code`.
        """
        from valkyr_plugins.python_workflows.starting import start

        chosen = {
            name: kwargs.pop(name)
            for name in ("key", "priority")
            if name in kwargs and name not in self.input.signature.parameters
        }
        return start(self, self.input.dumped(args, kwargs), **chosen)

    def start_many(self, inputs: Sequence[Any], *, priority: int | None = None) -> "list[Handle]":
        """Start up to 1,000 executions in one transaction, one for each input.

        Each input is the function's only argument, or a mapping of its arguments by name.
        """
        from valkyr_plugins.python_workflows.starting import start_many

        payloads = [self._payload_of_one(one) for one in inputs]
        return start_many(self, payloads, priority=priority)

    def run_here(self, *args: P.args, **kwargs: P.kwargs) -> "WorkflowRun":
        """Run the workflow in a test with the testing kit, without a worker or a broker.

        See `runners.testing`.
        """
        from valkyr_plugins.python_workflows.starting import run_here

        return run_here(self, self.input.dumped(args, kwargs))

    def payload_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the payload of a call that is a step of another workflow."""
        return self.input.payload(args, kwargs)

    def __repr__(self) -> str:
        return f"<workflow {self.slug} of {self.origin}>"

    def _payload_of_one(self, one: Any) -> Any:
        if self.input.whole is None and isinstance(one, Mapping):
            return self.input.dumped((), one)
        return self.input.dumped((one,), {})

    def _check(self) -> None:
        if _MODEL.fullmatch(self.slug) is None:
            raise TracingError(
                "a workflow's name may contain letters, digits, _ and -, at most 80 "
                f"characters; found {self.slug!r}",
                at=self._place,
            )
        if inspect.iscoroutinefunction(self.function):
            raise TracingError(
                f"workflow {self.__name__}: its function is traced, not run, so it cannot be "
                "`async`; its steps can be",
                at=self._place,
            )
        found = places.identity_test(self.function.__code__)
        if found is not None:
            raise TracingError(
                f"workflow {self.__name__}: `is` does not work with a handle: it is always false; "
                "write `is_missing(x)` for `x is None`, `==` for other values",
                at=f"{self.function.__code__.co_filename}:{found}",
            )

    def _traced(self) -> Any:
        with self._trace.running():
            result = self.function(**self.input.handles())  # type: ignore[call-arg]
            if not self._trace.scope.tasks:
                raise TracingError(
                    f"workflow {self.__name__} calls no step; call one", at=self._place
                )
            return self._trace.read(result)

    def _document(self) -> dict[str, Any]:
        facts, parts = (
            self._facts,
            {"schema": SCHEMA, "name": self._facts.get("title") or self.slug},
        )
        found: dict[str, Any] = {
            **parts,
            "description": facts.get("description", inspect.getdoc(self.function)),
            "input": self.input.schema(),
            "variables": self._trace.variables or None,
            "settings": self._settings() or None,
            "labels": self._labels() or None,
            "tasks": tasks_of(self._trace.scope),
            "output": self._result.value,
            "triggers": triggers_of(facts, self._place) or None,
        }
        return {key: value for key, value in found.items() if value is not None}

    def _settings(self) -> dict[str, Any]:
        facts = self._facts
        failure = facts.get("on_failure")
        found = {
            "timeoutSeconds": seconds(facts.get("timeout")),
            "priority": facts.get("priority"),
            "concurrency": self._concurrency(),
            "onFailure": None
            if failure is None
            else {"workflow": getattr(failure, "slug", failure)},
            "checkpoint": facts.get("checkpoint"),
            "compensation": facts.get("compensation"),
        }
        return {key: value for key, value in found.items() if value is not None}

    def _labels(self) -> dict[str, str]:
        """Return the templates of the labels.

        A label that is a function is called with the handles of the input.
        """
        labels = self._facts.get("labels") or {}
        return {name: self._key(one) if callable(one) else one for name, one in labels.items()}

    def _concurrency(self) -> dict[str, Any] | None:
        facts = self._facts
        key = facts.get("concurrency_key")
        if key is None:
            return None
        if callable(key) and facts_of(key) is None:
            key = self._key(key)
        found: dict[str, Any] = {"key": key}
        if facts.get("concurrency_limit") is not None:
            found["limit"] = facts["concurrency_limit"]
        if facts.get("on_conflict") is not None:
            found["onConflict"] = facts["on_conflict"]
        return found

    def _key(self, key: Callable[..., Any]) -> str:
        handles = self.input.handles()
        taken = inspect.signature(key).parameters
        given = next(iter(handles.values())) if len(taken) == 1 and len(handles) == 1 else None
        value = key(given) if given is not None else key(**{one: handles[one] for one in taken})
        return str(value)


class WorkflowDecorator(Protocol):
    """The result of `workflow(...)`: turns a function into a workflow and keeps its signature."""

    def __call__(self, function: Callable[P, R], /) -> PythonWorkflow[P, R]: ...


@overload
def workflow(function: Callable[P, R], /) -> PythonWorkflow[P, R]: ...
@overload
def workflow(
    name: str = "",
    /,
    *,
    title: str = "",
    description: str = "",
    input: Any = None,
    schedule: Trigger | Sequence[Trigger] | None = None,
    webhook: Trigger | Sequence[Trigger] | None = None,
    event: Trigger | Sequence[Trigger] | None = None,
    queue: Trigger | Sequence[Trigger] | None = None,
    concurrency_key: str | Callable[..., Any] | None = None,
    concurrency_limit: int | None = None,
    on_conflict: str | None = None,
    priority: int | None = None,
    timeout: Span | None = None,
    on_failure: Any = None,
    checkpoint: Mapping[str, Any] | None = None,
    compensation: str | None = None,
    labels: Mapping[str, str | Callable[..., Any]] | None = None,
) -> WorkflowDecorator: ...


def workflow(what: Any = "", /, **facts: Any) -> Any:
    """Turn a function into a workflow: `@workflow`, or with arguments `@workflow(...)`.

    The first argument is the workflow's name; by default, the function's name (`order_import`
    becomes `order-import`). The function runs once, at import, with handles (placeholders for later
    values) instead of arguments. Its calls become tasks, and its return value becomes the output.
    Users see `title`. `input` (a model, a dataclass, a TypedDict or a JSON Schema) describes the
    payload if the parameters do not. `schedule`, `webhook`, `event` and `queue` declare triggers:
    each takes a main value (such as a cron expression, or True for a webhook), a mapping of the
    trigger's keys, or a list of these. `concurrency_key` and the values of `labels` are templates
    or functions of the input; users find executions by their labels. `on_failure` is the workflow
    (or its slug) that starts when an execution fails or times out.

    Raises TracingError with file and line if a graph cannot express the code.
    """
    _refuse_unknown(facts)
    if isinstance(what, str):
        return lambda function: PythonWorkflow(function, {**facts, "name": what})
    return PythonWorkflow(what, facts)


_FACTS = frozenset(
    {
        "checkpoint", "compensation", "concurrency_key", "concurrency_limit", "description",
        "event", "input", "labels", "on_conflict", "on_failure", "priority", "queue", "schedule",
        "timeout", "title", "webhook",
    }
)  # fmt: skip


def _refuse_unknown(facts: Mapping[str, Any]) -> None:
    if unknown := sorted(set(facts) - _FACTS):
        raise TracingError(
            f"@workflow has no option {unknown[0]!r}; options are {', '.join(sorted(_FACTS))}"
        )
