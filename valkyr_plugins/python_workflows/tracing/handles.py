"""Handles: values that exist when the workflow runs, and expressions over them.

A handle holds the text of one template expression and the tasks that it reads. Operators build
larger expressions. An operation that Python would evaluate during tracing raises TracingError,
which says what to write instead.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.shapes import member, plain

# The precedence of expressions in Jinja. An expression of lower precedence needs parentheses inside
# one of higher precedence.
CHOICE, OR, AND, NOT, COMPARE, ADD, JOIN, MULTIPLY, POWER, FILTER, ATOM = range(11)

IF = "a handle has no value while the workflow is traced, so Python cannot branch on it; "
INSTEAD = {
    "if": IF + "write `with when(…):` for steps, `choose(condition, a, b)` for a value, "
    "`&`, `|` and `not_(…)` for `and`, `or` and `not`, `(0 < x) & (x < 9)` for `0 < x < 9`",
    "in": IF + "write `contains(container, item)` for `item in container`",
    "for": "a handle cannot be iterated while the workflow is traced; write "
    "`each(items, step)` for steps, `filters.map(…)` for values",
    "len": "the length of a handle is not known yet; write `filters.length(…)`",
    "int": "a handle is not a number; write `filters.int(…)` or `filters.float(…)`",
    "set": "a handle cannot be changed; create a new value, or use `variables(…)`",
    "await": "a step is not awaited in a workflow; its call returns a handle at once",
}


@dataclass(frozen=True, slots=True)
class HandleFacts:
    """The metadata of a handle.

    `reads` are the tasks whose results the handle needs; `within` are the bodies whose `item` or
    `loop` it reads. `follows` is the module of a chain whose output the handle reads. `task` is
    the task whose whole output the handle is; `outcomes` make it a branch of a task (see `when`).
    `shape` is the value's annotation. An `external` value comes from outside, so fields with
    defaults may be missing.
    """

    source: str
    level: int = ATOM
    reads: frozenset[Any] = frozenset()
    within: frozenset[Any] = frozenset()
    follows: Any = None
    task: Any = None
    outcomes: tuple[Any, tuple[str, ...]] | None = None
    shape: Any = Any
    external: bool = False


class ValueHandle:
    """A value that exists when the workflow runs."""

    __slots__ = ("_valkyr",)

    def __init__(self, facts: HandleFacts) -> None:
        object.__setattr__(self, "_valkyr", facts)

    def __getattr__(self, name: str) -> "ValueHandle":
        if name.startswith("__"):
            raise AttributeError(name)
        return attribute(self, name)

    def __getitem__(self, key: Any) -> "ValueHandle":
        return element(self, key)

    def __call__(self, *args: Any, **kwargs: Any) -> "ValueHandle":
        return applied(self, "", args, kwargs)

    def __format__(self, spec: str) -> str:
        facts = _facts(self)
        return "{{ " + (f"'%{spec}' | format({facts.source})" if spec else facts.source) + " }}"

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return f"<handle {self._valkyr.source}>"

    def __hash__(self) -> int:
        return id(self)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise TracingError(INSTEAD["set"])

    def __delattr__(self, name: str) -> NoReturn:
        raise TracingError(INSTEAD["set"])

    def __rshift__(self, later: Any) -> Any:
        from valkyr_plugins.python_workflows.tracing.trace import tracing

        return tracing().precede(self, later)

    def __rrshift__(self, earlier: Any) -> Any:
        from valkyr_plugins.python_workflows.tracing.trace import tracing

        tracing().precede(earlier, self)
        return self

    def __neg__(self) -> "ValueHandle":
        return unary("-", POWER, self)

    def __abs__(self) -> "ValueHandle":
        return filtered(self, "abs")

    def __round__(self, digits: int | None = None) -> "ValueHandle":
        return filtered(self, "round") if digits is None else filtered(self, "round", digits)

    def __invert__(self) -> "ValueHandle":
        return unary("not ", NOT, self)

    def __or__(self, other: Any) -> "ValueHandle":
        return either(self, other)

    def __ror__(self, other: Any) -> "ValueHandle":
        return either(other, self)


def _raising(reason: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any) -> NoReturn:
        raise TracingError(INSTEAD[reason])

    return refuse


def _operator(symbol: str, level: int, *, back: bool = False) -> Callable[[Any, Any], ValueHandle]:
    def operate(one: Any, other: Any) -> ValueHandle:
        return binary(other, symbol, one, level) if back else binary(one, symbol, other, level)

    return operate


for _names, _reason in (
    (("bool",), "if"), (("contains",), "in"), (("iter", "next", "reversed"), "for"),
    (("len", "length_hint"), "len"), (("int", "float", "index", "complex"), "int"),
    (("setitem", "delitem"), "set"), (("await", "enter", "exit"), "await"),
):  # fmt: skip
    for _name in _names:
        setattr(ValueHandle, f"__{_name}__", _raising(_reason))
for _name, _symbol, _level in (
    ("add", "+", ADD), ("sub", "-", ADD), ("mul", "*", MULTIPLY), ("truediv", "/", MULTIPLY),
    ("floordiv", "//", MULTIPLY), ("mod", "%", MULTIPLY), ("pow", "**", POWER), ("and", "and", AND),
):  # fmt: skip
    setattr(ValueHandle, f"__{_name}__", _operator(_symbol, _level))
    setattr(ValueHandle, f"__r{_name}__", _operator(_symbol, _level, back=True))
for _name, _symbol in (
    ("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="),
):  # fmt: skip
    setattr(ValueHandle, f"__{_name}__", _operator(_symbol, COMPARE))


def facts_of(value: Any) -> HandleFacts | None:
    """Return the facts of a handle, or of a construct that represents one.

    Return None for other values.
    """
    if isinstance(value, ValueHandle):
        found: HandleFacts = object.__getattribute__(value, "_valkyr")
        return found
    stands_for = getattr(type(value), "__valkyr_facts__", None)
    return None if stands_for is None else stands_for(value)


@dataclass(slots=True)
class _Writer:
    """Writes values into an expression, and collects the tasks that the values read."""

    reads: set[Any] = field(default_factory=set)
    within: set[Any] = field(default_factory=set)
    follows: Any = None

    def text(self, value: Any, least: int = CHOICE) -> str:
        facts = facts_of(value)
        if facts is None:
            return self._literal(value)
        self.reads |= facts.reads
        self.within |= facts.within
        self.follows = facts.follows or self.follows
        # A filter has a higher precedence than operators, but many readers expect the opposite, so
        # add parentheses.
        looks_loose = facts.level == FILTER and CHOICE < least < FILTER
        bare = facts.level >= least and not looks_loose
        return facts.source if bare else f"({facts.source})"

    def handle(self, source: str, level: int, **more: Any) -> ValueHandle:
        return ValueHandle(
            HandleFacts(
                source, level, frozenset(self.reads), frozenset(self.within), self.follows, **more
            )
        )

    def _literal(self, given: Any) -> str:
        value = plain(given)
        if value is None or isinstance(value, bool):
            return {None: "none", True: "true", False: "false"}[value]
        if isinstance(value, str) and "{{" in value:
            raise TracingError(
                "an expression cannot contain a string with a handle in it; join the parts "
                f"with `+`, or pass the string to a step directly; found {value!r:.80}"
            )
        if isinstance(value, int | float | str):
            return repr(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(self.text(one) for one in value)}]"
        if isinstance(value, Mapping):
            pairs = (f"{self.text(key)}: {self.text(one)}" for key, one in value.items())
            return "{" + ", ".join(pairs) + "}"
        raise TracingError(
            "an expression can contain handles, strings, numbers, lists and mappings; found "
            f"{value!r:.80}"
        )


def attribute(handle: Any, name: str) -> ValueHandle:
    """Return `handle.name`, using the JSON name. Raises TracingError for an unknown field."""
    facts = facts_of(handle)
    assert facts is not None
    found = member(facts.shape, name)
    if found is None:
        raise TracingError(f"{facts.source} has no field {name!r}{_hint(facts.shape, name)}")
    writer = _Writer()
    source = f"{writer.text(handle, ATOM)}{_key(found.key)}"
    if facts.external and found.optional:
        return default(writer.handle(source, ATOM, shape=found.shape, external=True), found.default)
    return writer.handle(source, ATOM, shape=found.shape, external=facts.external)


def element(handle: Any, key: Any) -> ValueHandle:
    """Return `handle[key]`; `key` can be a slice."""
    facts = facts_of(handle)
    assert facts is not None
    writer = _Writer()
    owner = writer.text(handle, ATOM)
    if isinstance(key, slice):
        parts = ("" if one is None else writer.text(one) for one in (key.start, key.stop))
        step = "" if key.step is None else f":{writer.text(key.step)}"
        return writer.handle(f"{owner}[{':'.join(parts)}{step}]", ATOM, shape=facts.shape)
    if isinstance(key, str):
        found = member(facts.shape, key, by_key=True)
        return writer.handle(f"{owner}{_key(key)}", ATOM, shape=found.shape if found else Any)
    return writer.handle(f"{owner}[{writer.text(key)}]", ATOM, shape=_item(facts.shape))


def item_shape(value: Any) -> Any:
    """Return the annotation of the items of a list; Any if it is unknown."""
    facts = facts_of(value)
    return Any if facts is None else _item(facts.shape)


def unary(symbol: str, level: int, value: Any) -> ValueHandle:
    """Return `-value` or `not value`."""
    writer = _Writer()
    return writer.handle(f"{symbol}{writer.text(value, level)}", level)


def binary(left: Any, symbol: str, right: Any, level: int) -> ValueHandle:
    """Return `left symbol right`; for `outcome == string`, the result is also a branch."""
    writer = _Writer()
    # Comparisons and powers need parentheses around equal levels on both sides. All other operators
    # are left-associative.
    least = level + 1 if level in (COMPARE, POWER) else level
    source = f"{writer.text(left, least)} {symbol} {writer.text(right, level + 1)}"
    made = writer.handle(source, level)
    facts = facts_of(left)
    if symbol == "==" and isinstance(right, str) and facts and facts.outcomes:
        made = ValueHandle(replace(facts_of(made) or facts, outcomes=(facts.outcomes[0], (right,))))
    return made


def _facts(handle: ValueHandle) -> HandleFacts:
    found = facts_of(handle)
    assert found is not None
    return found


def either(left: Any, right: Any) -> ValueHandle:
    """Return `left or right`; two branches of one task become one branch."""
    writer = _Writer()
    made = writer.handle(f"{writer.text(left, OR)} or {writer.text(right, OR)}", OR)
    one, other = facts_of(left), facts_of(right)
    if one and other and one.outcomes and other.outcomes and one.outcomes[0] is other.outcomes[0]:
        both = (one.outcomes[0], one.outcomes[1] + other.outcomes[1])
        return ValueHandle(replace(_facts(made), outcomes=both))
    return made


def conditional(condition: Any, then: Any, otherwise: Any) -> ValueHandle:
    """Return `then if condition else otherwise`."""
    writer = _Writer()
    source = (
        f"{writer.text(then, OR)} if {writer.text(condition, OR)} else {writer.text(otherwise)}"
    )
    return writer.handle(source, CHOICE)


def compared(left: Any, words: str, right: Any) -> ValueHandle:
    """Return an expression with an operator that is a word, such as `left in right`."""
    writer = _Writer()
    tail = "" if right is _NOTHING else f" {writer.text(right, ADD)}"
    return writer.handle(f"{writer.text(left, ADD)} {words}{tail}", COMPARE)


_NOTHING = object()


def is_none(value: Any) -> ValueHandle:
    """Return `value is none`."""
    return compared(value, "is none", _NOTHING)


def filtered(value: Any, name: str, *args: Any, **kwargs: Any) -> ValueHandle:
    """Return `value | name(…)`."""
    writer = _Writer()
    owner = writer.text(value, FILTER)
    given = _arguments(writer, args, kwargs)
    return writer.handle(f"{owner} | {name}" + (f"({given})" if given else ""), FILTER)


def default(value: Any, other: Any) -> ValueHandle:
    """Return the value, or `other` if the value is missing: the filter `default`."""
    facts = facts_of(value)
    made = filtered(value, "default", other)
    return (
        made
        if facts is None
        else ValueHandle(replace(_facts(made), shape=facts.shape, external=facts.external))
    )


def applied(value: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ValueHandle:
    """Return a call to the value or, if `name` is `.method`, to that method of the value."""
    writer = _Writer()
    owner = writer.text(value, ATOM) + name
    return writer.handle(f"{owner}({_arguments(writer, args, kwargs)})", ATOM)


def _arguments(writer: _Writer, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    named = (f"{name}={writer.text(one)}" for name, one in kwargs.items())
    return ", ".join([*(writer.text(one) for one in args), *named])


def _key(key: str) -> str:
    return f".{key}" if key.isidentifier() and key.isascii() else f"[{key!r}]"


def _item(shape: Any) -> Any:
    from typing import get_args

    parts = get_args(shape)
    return parts[0] if len(parts) == 1 else Any


def _hint(shape: Any, name: str) -> str:
    from difflib import get_close_matches

    from valkyr_plugins.python_workflows.tracing.shapes import names

    known = names(shape)
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(known)}"
