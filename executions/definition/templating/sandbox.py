"""The Jinja2 environment of expressions: strict, without clock, randomness or side effects.

What is not listed here is not available: filters and tests by name, methods by the type of their
object. All of them are given the budget of the rendering, which the context carries.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from executions.definition.templating import arithmetic, items, judging, rewriting, texts
from executions.definition.templating.access import StrictName, item_of
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import taken
from executions.definition.templating.methods import BoundMethod, check_call, method_of


class ScopeContext(Context):
    """Names come from the scope, then from the few functions; nothing else."""

    budget: RenderBudget

    def resolve_or_missing(self, key: str) -> Any:
        """The value of a name, or Jinja's marker of a missing one."""
        value = self.parent.get(key, missing)
        return FUNCTIONS.get(key, missing) if value is missing else value


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter, test or function whose first argument is the budget, as Jinja calls it."""

    @pass_context
    def call(context: ScopeContext, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(context.budget, *args, **kwargs)
        except TypeError:
            check_call(name, function, (context.budget, *args), kwargs)
            raise

    return call


FUNCTIONS: Mapping[str, Any] = {"range": counted("range", arithmetic.numbers_between)}
_OPERATORS: Mapping[str, Callable[[RenderBudget, Any, Any], Any]] = {
    "+": arithmetic.add,
    "*": arithmetic.multiply,
    "**": arithmetic.power,
    "%": arithmetic.modulo,
}
_FILTERS: Mapping[str, Callable[..., Any]] = {
    "abs": arithmetic.absolute,
    "batch": items.batch,
    "capitalize": texts.cased(str.capitalize),
    "center": texts.centered,
    "count": items.length,
    "d": items.default,
    "default": items.default,
    "dictsort": items.dictsort,
    "e": texts.escaped,
    "escape": texts.escaped,
    "filesizeformat": arithmetic.file_size,
    "first": items.first,
    "float": arithmetic.to_float,
    "format": texts.formatted,
    "groupby": items.groupby,
    "indent": texts.indented,
    "int": arithmetic.to_int,
    "items": items.items,
    "join": texts.join,
    "last": items.last,
    "length": items.length,
    "list": taken,
    "lower": texts.cased(str.lower),
    "max": items.maximum,
    "min": items.minimum,
    "replace": texts.replace,
    "reverse": items.backwards,
    "round": arithmetic.rounded,
    "slice": items.slices,
    "sort": items.sort,
    "string": texts.string,
    "striptags": texts.without_tags,
    "sum": arithmetic.total,
    "title": texts.titled,
    "tojson": texts.to_json,
    "trim": texts.trimmed,
    "truncate": texts.truncated,
    "unique": items.unique,
    "upper": texts.cased(str.upper),
    "urlencode": texts.url_encoded,
    "wordcount": texts.word_count,
}
_EACH = ("map", "reject", "rejectattr", "select", "selectattr")


class ExpressionEnvironment(ImmutableSandboxedEnvironment):
    """Reads keys before methods, and of methods only those listed."""

    intercepted_binops = frozenset(_OPERATORS)
    context_class = ScopeContext

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`: an object's key first, then a listed method."""
        if isinstance(obj, Mapping):
            try:
                return obj[attribute]
            except KeyError:
                pass
        method = method_of(obj, attribute)
        return StrictName(obj=obj, name=attribute) if method is None else method

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]`, never a method."""
        return item_of(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator that may build something large."""
        return _OPERATORS[operator](context.budget, left, right)  # type: ignore[attr-defined]

    # The names start with underscores so that they cannot clash with a call's keyword arguments.
    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as in the base class
        """Call a listed method or function, with the budget."""
        if type(__obj) is BoundMethod:
            return __obj(__context.budget, *args, **kwargs)  # type: ignore[attr-defined]
        return super().call(__context, __obj, *args, **kwargs)


def _environment() -> ExpressionEnvironment:
    # Not optimized: constant parts would be computed while compiling, outside of any budget.
    environment = ExpressionEnvironment(
        undefined=StrictName, autoescape=False, auto_reload=False, cache_size=0, optimized=False
    )
    environment.globals.clear()
    named = {**_FILTERS, **rewriting.OPERATORS}
    environment.filters = {name: counted(name, function) for name, function in named.items()}
    environment.filters |= {name: pass_context(items.each(name)) for name in _EACH}
    environment.tests = {
        name: counted(name, function) for name, function in judging.COUNTED.items()
    }
    environment.tests |= judging.PLAIN
    return environment


ENVIRONMENT = _environment()
