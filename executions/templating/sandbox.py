"""The Jinja2 environment of expressions: strict, without clock, randomness or side effects.

What is not listed here is not available: filters by name, methods by the type of their object.
"""

from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from executions.templating import limits, operators
from executions.templating.comparing import TESTS
from executions.templating.filters import filters
from executions.templating.meter import charge
from executions.templating.paths import lacks
from executions.templating.sizes import CHARACTERS, built, charge_whole

FUNCTIONS: Mapping[str, Any] = {"range": limits.bounded_range}

# fmt: off
_TEXT_METHODS = frozenset([
    "capitalize", "casefold", "center", "count", "endswith", "expandtabs", "find", "index",
    "isalnum", "isalpha", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle",
    "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix",
    "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split",
    "splitlines", "startswith", "strip", "swapcase", "title", "upper", "zfill",
])
# fmt: on
_METHODS: Mapping[type, frozenset[str]] = {
    str: _TEXT_METHODS,
    dict: frozenset({"get", "items", "keys", "values"}),
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
}
_WIDENING = frozenset({"center", "expandtabs", "ljust", "rjust", "zfill"})
_SPLITTING = frozenset({"rsplit", "split", "splitlines"})
_KEYS = frozenset({str, int, float, bool, type(None)})


class StrictName(StrictUndefined):
    """An undefined value whose error says what was looked for and what there is."""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        if self._undefined_obj is missing:
            return f'"{self._undefined_name}" is not available here'
        return f"the value {lacks(self._undefined_obj, self._undefined_name or '')}"


class ScopeContext(Context):
    """Names come from the scope, then from the few functions; nothing else."""

    def resolve_or_missing(self, key: str) -> Any:
        """The value of a name, or Jinja's marker of a missing one."""
        value = self.parent.get(key, missing)
        return FUNCTIONS.get(key, missing) if value is missing else value


class ExpressionEnvironment(ImmutableSandboxedEnvironment):
    """Reads keys before methods, and of methods only those listed above."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    context_class = ScopeContext

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`: an object's key first, then a listed method."""
        if isinstance(obj, Mapping):
            try:
                return obj[attribute]
            except KeyError:
                pass
        if attribute in _METHODS.get(type(obj), ()):
            return getattr(obj, attribute)
        return self.undefined(obj=obj, name=attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]`, never a method; no key is looked up that takes long to hash."""
        if type(argument) not in _KEYS:
            return self.undefined(obj=obj, name=type(argument).__name__)
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(obj=obj, name=argument)

    # The names start with underscores so that they cannot clash with a call's keyword arguments.
    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as in the base class
        """Call a listed method or function, with its size checked first."""
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            name = __obj.__name__
            if name == "replace":
                return limits.replace(owner, *args, **kwargs)
            if name == "join" and len(args) == 1:
                return limits.join(args[0], owner)
            _check_text_method(owner, name, (*args, *kwargs.values()))
            result = super().call(__context, __obj, *args, **kwargs)
            return built(result, new_items=name in _SPLITTING)
        if isinstance(owner, list | tuple):
            charge_whole(owner)  # `count` and `index` compare every item
        charge(1)
        for argument in args:
            charge_whole(argument)
        return super().call(__context, __obj, *args, **kwargs)


def _check_text_method(text: str, name: str, arguments: tuple[Any, ...]) -> None:
    """Charge for a method of a text, and refuse a result that would be too long."""
    charge(1 + len(text) // CHARACTERS)
    for argument in arguments:
        if isinstance(argument, str):
            charge(1 + len(argument) // CHARACTERS)
        elif name in _WIDENING and isinstance(argument, int):
            limits.bounded_text(argument * (text.count("\t") if name == "expandtabs" else 1))
        elif isinstance(argument, tuple):
            charge(len(argument) * (1 + len(text) // CHARACTERS))  # startswith, endswith
    if name in _SPLITTING:
        separator = next((one for one in arguments if isinstance(one, str)), "")
        most = text.count(separator) + 1 if separator else len(text) // 2 + 1
        limits.bounded_items(min(most, len(text) + 1))


def _environment() -> ExpressionEnvironment:
    environment = ExpressionEnvironment(
        undefined=StrictName,
        autoescape=False,
        auto_reload=False,
        cache_size=0,
        # Nothing is computed while an expression is compiled: only renderings are metered.
        optimized=False,
    )
    environment.globals.clear()
    environment.binop_table |= {
        "+": limits.add,
        "*": limits.multiply,
        "**": limits.power,
        "%": limits.modulo,
    }
    environment.filters = filters() | dict(operators.FILTERS)
    environment.tests |= TESTS
    return environment


ENVIRONMENT = _environment()
