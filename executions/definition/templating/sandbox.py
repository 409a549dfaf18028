"""The Jinja2 environment of expressions: strict, and without a clock, randomness or side effects.

Only the filters and tests that are listed here, and the methods that are listed for the type of
their object, are available. All except type tests receive the rendering's budget.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.utils import missing
from jinja2.visitor import NodeTransformer

from executions.definition.templating import arithmetic, items, texts
from executions.definition.templating.access import StrictName, item_of
from executions.definition.templating.arithmetic import number
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import COMPARISONS, Chained, contains, key, taken
from executions.definition.templating.items import sliced
from executions.definition.templating.methods import BoundMethod, check_call, method_of
from executions.definition.templating.texts import concatenated, string

# Replace the operators that Jinja compiles to plain Python with filters that count their work.
#
# Jinja's sandbox intercepts `+`, `*`, `**` and `%`. It does not intercept comparisons, `~`, slices
# and the keys of object literals, so their nodes are replaced. An expression cannot contain the
# names of these filters.


def rewritten(tree: nodes.Expr) -> nodes.Expr:
    """Return the expression with filters in place of operators that Jinja does not intercept."""
    return _Rewriting().visit(tree)  # type: ignore[no-any-return]


class _Rewriting(NodeTransformer):
    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        return _filter(nodes.List(node.nodes, lineno=node.lineno), "(~)")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if len(node.ops) == 1:
            operand = node.ops[0]
            return _filter(node.expr, f"({operand.op})", operand.expr)
        node.expr = _filter(node.expr, "(chained)")
        for operand in node.ops:
            operand.expr = _filter(operand.expr, "(chained)")
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        none = nodes.Const(None, lineno=node.lineno)
        part = node.arg
        return _filter(
            node.node, "(slice)", part.start or none, part.stop or none, part.step or none
        )

    def visit_Pair(self, node: nodes.Pair) -> nodes.Pair:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if not isinstance(node.key, nodes.Const):
            node.key = _filter(node.key, "(key)")
        return node


def _filter(value: nodes.Expr, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, list(args), [], None, None, lineno=value.lineno)


def _within(budget: RenderBudget, item: Any, container: Any) -> bool:
    return contains(budget, container, item)


def _not_within(budget: RenderBudget, item: Any, container: Any) -> bool:
    return not contains(budget, container, item)


def _key(_: RenderBudget, value: Any) -> Any:
    return key(value)


OPERATORS: Mapping[str, Callable[..., Any]] = {
    **{f"({name})": compare for name, compare in COMPARISONS.items()},
    "(in)": _within,
    "(notin)": _not_within,
    "(chained)": Chained,
    "(slice)": sliced,
    "(key)": _key,
    "(~)": concatenated,
}


# The tests after `is`. Tests that compare values count the work; tests of numbers accept only
# numbers.
#
# Jinja's `odd`, `even` and `divisibleby` use `%`, which formats its left side if that is a text.


# Tests of a value's type or existence, whose cost does not depend on the value's size.
OF_TYPE = (
    *("boolean", "callable", "defined", "escaped", "false", "float", "integer", "iterable"),
    *("mapping", "none", "number", "sameas", "sequence", "string", "true", "undefined"),
)
_ALIASES = {
    "eq": ("eq", "==", "equalto"),
    "ne": ("ne", "!="),
    "gt": ("gt", ">", "greaterthan"),
    "gteq": ("ge", ">="),
    "lt": ("lt", "<", "lessthan"),
    "lteq": ("le", "<="),
}


def _odd(_: RenderBudget, value: Any) -> bool:
    return bool(number(value, "odd") % 2 == 1)


def _even(_: RenderBudget, value: Any) -> bool:
    return bool(number(value, "even") % 2 == 0)


def _divisible(_: RenderBudget, value: Any, num: Any) -> bool:
    return bool(number(value, "divisibleby") % number(num, "divisibleby") == 0)


def _lower(budget: RenderBudget, value: Any) -> bool:
    text = string(budget, value)
    budget.spend(1 + (len(text) >> 3))
    return text.islower()


def _upper(budget: RenderBudget, value: Any) -> bool:
    text = string(budget, value)
    budget.spend(1 + (len(text) >> 3))
    return text.isupper()


def _is_in(budget: RenderBudget, value: Any, seq: Any) -> bool:
    return contains(budget, seq, value)


COUNTED: Mapping[str, Callable[..., Any]] = {
    **{alias: COMPARISONS[name] for name, aliases in _ALIASES.items() for alias in aliases},
    "divisibleby": _divisible,
    "even": _even,
    "in": _is_in,
    "lower": _lower,
    "odd": _odd,
    "upper": _upper,
}
_TESTS: Mapping[str, Any] = TESTS
PLAIN: Mapping[str, Callable[..., Any]] = {name: _TESTS[name] for name in OF_TYPE}


class ScopeContext(Context):
    """A context in which names come only from the scope and from `FUNCTIONS`."""

    budget: RenderBudget

    def resolve_or_missing(self, key: str) -> Any:
        """Return the value of a name, or Jinja's marker for a missing name."""
        value = self.parent.get(key, missing)
        return FUNCTIONS.get(key, missing) if value is missing else value


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for Jinja that calls `function` with the budget as its first argument."""

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
    """An environment that reads keys before methods, and allows only listed methods."""

    intercepted_binops = frozenset(_OPERATORS)
    context_class = ScopeContext

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return `obj.attribute`: an object's key, else a listed method, else a StrictName."""
        if isinstance(obj, Mapping):
            try:
                return obj[attribute]
            except KeyError:
                pass
        method = method_of(obj, attribute)
        return StrictName(obj=obj, name=attribute) if method is None else method

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return `obj[argument]`, never a method."""
        return item_of(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return the result of `+`, `*`, `**` or `%`, charged to the budget."""
        return _OPERATORS[operator](context.budget, left, right)  # type: ignore[attr-defined]

    # The names start with underscores so that they cannot clash with a call's keyword arguments.
    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as in the base class
        """Return the result of a listed method or function, called with the budget."""
        if type(__obj) is BoundMethod:
            return __obj(__context.budget, *args, **kwargs)  # type: ignore[attr-defined]
        return super().call(__context, __obj, *args, **kwargs)


def _environment() -> ExpressionEnvironment:
    # Not optimized: constant parts would be computed while compiling, outside of any budget.
    environment = ExpressionEnvironment(
        undefined=StrictName, autoescape=False, auto_reload=False, cache_size=0, optimized=False
    )
    environment.globals.clear()
    named = {**_FILTERS, **OPERATORS}
    environment.filters = {name: counted(name, function) for name, function in named.items()}
    environment.filters |= {name: pass_context(items.each(name)) for name in _EACH}
    environment.tests = {name: counted(name, function) for name, function in COUNTED.items()}
    environment.tests |= PLAIN
    return environment


ENVIRONMENT = _environment()
