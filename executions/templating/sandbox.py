"""The Jinja2 environment of expressions: strict, without clock, randomness or side effects.

What is not listed here is not available: filters by name, methods by the type of their object.
"""

import html
import json
from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from executions.templating import limits
from executions.templating.paths import lacks
from executions.templating.values import as_json, as_text

FUNCTIONS: Mapping[str, Any] = {"range": limits.bounded_range}

# fmt: off
# Deterministic filters whose result is at most a small multiple of what they are given.
_FILTERS = frozenset([
    "abs", "capitalize", "count", "d", "default", "dictsort", "filesizeformat", "first",
    "float", "groupby", "int", "items", "last", "length", "list", "lower", "map", "max", "min",
    "reject", "rejectattr", "reverse", "select", "selectattr", "sort", "striptags", "title",
    "trim", "truncate", "unique", "upper", "urlencode", "wordcount",
])
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

    intercepted_binops = frozenset({"*", "**", "%"})
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
        """`obj[argument]`, never a method."""
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(obj=obj, name=argument)

    # The names start with underscores so that they cannot clash with a call's keyword arguments.
    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as in the base class
        """Call a listed method or function, with its size checked first."""
        text = getattr(__obj, "__self__", None)
        if isinstance(text, str):
            name = __obj.__name__
            if name in _WIDENING and args and isinstance(args[0], int):
                limits.bounded_text(args[0] * (text.count("\t") if name == "expandtabs" else 1))
            elif name == "replace":
                return limits.replace(text, *args, **kwargs)
            elif name == "join" and len(args) == 1:
                return limits.join(args[0], text)
        return super().call(__context, __obj, *args, **kwargs)


def _environment() -> ExpressionEnvironment:
    environment = ExpressionEnvironment(
        undefined=StrictName, autoescape=False, auto_reload=False, cache_size=0
    )
    environment.globals.clear()
    environment.binop_table |= {
        "*": limits.multiply,
        "**": limits.power,
        "%": limits.modulo,
    }
    own = environment.filters
    environment.filters = {name: own[name] for name in _FILTERS}
    environment.filters |= {
        "batch": limits.with_bounded_count(own["batch"], limits.bounded_items),
        "center": limits.with_bounded_count(own["center"], limits.bounded_text),
        "e": _escape,
        "escape": _escape,
        "format": limits.format_text,
        "indent": limits.indented,
        "join": _join,
        "replace": limits.replace,
        "round": limits.rounded,
        "slice": limits.with_bounded_count(own["slice"], limits.bounded_items),
        "string": as_text,
        "sum": limits.total,
        "tojson": _to_json,
    }
    return environment


def _join(items: Any, separator: str = "") -> str:
    return limits.join(items, separator)


def _escape(value: Any) -> str:
    return html.escape(as_text(value))


def _to_json(value: Any) -> str:
    return json.dumps(as_json(value), ensure_ascii=False)


ENVIRONMENT = _environment()
