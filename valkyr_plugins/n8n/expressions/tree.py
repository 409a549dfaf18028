"""The parts of an expression, as a tree."""

from dataclasses import dataclass


class Untranslatable(Exception):
    """An expression says what our templates cannot; the message says what."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a number, true, false or null."""

    value: str | float | bool | None


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """`of.key`, `of[key]`, `of?.key`."""

    of: "Tree"
    key: "Tree"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`of(…)`."""

    of: "Tree"
    arguments: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """`!x`, `-x`."""

    sign: str
    of: "Tree"


@dataclass(frozen=True, slots=True)
class Binary:
    """`a + b` and its like."""

    sign: str
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? yes : no`."""

    test: "Tree"
    yes: "Tree"
    no: "Tree"


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b]`."""

    items: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """`{a: b}`."""

    pairs: tuple[tuple[str, "Tree"], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """A text with values in it: `` `Hello ${name}` ``."""

    parts: tuple["Tree", ...]


Tree = (
    Literal
    | Name
    | Member
    | FunctionCall
    | Unary
    | Binary
    | Conditional
    | ListOf
    | ObjectOf
    | Joined
)
