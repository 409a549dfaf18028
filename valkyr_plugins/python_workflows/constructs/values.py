"""Values in a workflow: variables, filters, conditions, secrets, and data of the execution."""

from typing import Any, TypeVar, cast

from valkyr_plugins.python_workflows.tracing.handles import (
    CHOICE,
    HandleFacts,
    ValueHandle,
    compared,
    either,
    filtered,
    is_none,
    unary,
)
from valkyr_plugins.python_workflows.tracing.handles import NOT as _NOT
from valkyr_plugins.python_workflows.tracing.options import CallOptions
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.shapes import plain
from valkyr_plugins.python_workflows.tracing.trace import output_of, tracing

T = TypeVar("T")


class Variables:
    """The workflow's variables: read `stock.left`, write `stock.set(left=…)`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = tracing().variables
        if name not in known:
            raise TracingError(f"there is no variable {name!r}; declared: {', '.join(known)}")
        return ValueHandle(HandleFacts(f"vars.{name}"))

    def set(self, **values: Any) -> Any:
        """Set variables, in a separate step."""
        return self.set_with()(**values)

    def set_with(self, **options: Any) -> Any:
        """Return a function like `set`, whose step has these options, such as `id=`."""

        def call(**values: Any) -> Any:
            trace = tracing()
            for name in values:
                getattr(self, name)
            task = trace.add(
                "flow.set_variables",
                {"values": values},
                CallOptions.of(options),
                name="set",
                line=True,
            )
            return output_of(task)

        return call


def variables(**defaults: Any) -> Any:
    """Declare variables with their defaults, which must be values, not handles."""
    trace = tracing()
    if trace.scope.around is not None:
        raise TracingError("variables belong to the workflow; declare them outside of any body")
    for name, value in defaults.items():
        trace.variables[name] = plain(value)
    return Variables()


class Filters:
    """Template filters, by name: `filters.length(x)`, `filters.map(x, attribute="id")`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda value, *args, **kwargs: filtered(value, name.rstrip("_"), *args, **kwargs)


filters: Any = Filters()


def first_of(*values: T | None) -> T:
    """Return the first value that is not None, empty, 0 or false.

    If there is no such value, return the last value.
    """
    if len(values) < 2:
        raise TracingError("first_of() takes at least two values")
    found: Any = values[0]
    for other in values[1:]:
        found = either(found, other)
    return cast("T", found)


def contains(container: object, item: object) -> bool:
    """Return the expression `item in container`."""
    return cast("bool", compared(item, "in", container))


def not_(condition: object) -> bool:
    """Return the expression `not condition`."""
    return cast("bool", unary("not ", _NOT, condition))


def is_missing(value: object) -> bool:
    """Return the expression `value is None`."""
    return cast("bool", is_none(value))


def expr(source: str) -> Any:
    """Return a template expression for untraceable code: `expr("input.a if input.b else 0")`.

    Refer to a step's result by its task's ID: `tasks.charge.output`.
    """
    if "{{" in source:
        raise TracingError("expr() takes one expression, without the braces")
    from valkyr_plugins.python_workflows.tracing.trace import _MENTION

    trace = tracing()
    named = (trace.scope.named(one[1] or one[3]) for one in _MENTION.finditer(source))
    return ValueHandle(HandleFacts(source, CHOICE, reads=frozenset(task for task in named if task)))


class Named:
    """A name in templates, such as `execution`, with parts that are read as attributes (`.id`)."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return ValueHandle(HandleFacts(f"{self._source}.{name}"))


execution: Any = Named("execution")
"""The facts of the execution: `id`, `startedAt`, `attempt` and `workflow`."""

secrets: Any = Named("secrets")
"""The workspace's credentials, such as `secrets.pay_key` or `secrets.shop.number`."""
