"""Parse a JavaScript expression into a tree; reject programs, functions and regular expressions."""

import re
from dataclasses import dataclass

# The nodes of an expression's syntax tree.


class Untranslatable(Exception):
    """An expression uses something that templates cannot express; the message names it."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: a string, a number, true, false or null."""

    value: str | float | bool | None


@dataclass(frozen=True, slots=True)
class Name:
    """A name, such as `$json`."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a value: `of.key`, `of[key]` or `of?.key`."""

    of: "Tree"
    key: "Tree"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call: `of(…)`."""

    of: "Tree"
    arguments: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """An operator with one operand: `!x` or `-x`."""

    sign: str
    of: "Tree"


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator with two operands, such as `a + b`."""

    sign: str
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True, slots=True)
class Conditional:
    """A conditional expression: `test ? yes : no`."""

    test: "Tree"
    yes: "Tree"
    no: "Tree"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list: `[a, b]`."""

    items: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """An object: `{a: b}`."""

    pairs: tuple[tuple[str, "Tree"], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """A text that contains values, in backquotes: `` `Hello ${name}` ``."""

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


# Split JavaScript into words, signs, texts and numbers, and reject unsupported syntax.


MAX_TOKENS = 2_000
_TOKEN = re.compile(
    r"""\s+|(?P<comment>/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
    |(?P<number>\d+(?:\.\d+)?(?![\w.]))
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<template>`(?:\\.|[^`\\])*`)
    |(?P<sign>===|!==|\?\?|\?\.(?!\d)|==|!=|>=|<=|&&|\|\||=>|\.\.\.|[-+*/%!<>?:.,()\[\]{};=&|^~])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": ""}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind (`number`, `word`, `text`, `template`, `sign`, `end`) and its text."""

    kind: str
    text: str


def tokens(source: str) -> list[Token]:
    """Return the tokens of an expression, `end` last. Raises Untranslatable."""
    found: list[Token] = []
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None or len(found) > MAX_TOKENS:
            raise Untranslatable(
                f"it cannot be parsed from {source[position : position + 20]!r} on"
            )
        position = match.end()
        kind = match.lastgroup
        if kind == "text":
            found.append(Token(kind, unescaped(match.group()[1:-1])))
        elif kind == "template":
            found.append(Token(kind, match.group()[1:-1]))
        elif kind not in (None, "comment"):
            found.append(Token(str(kind), match.group()))
    return [*found, Token("end", "")]


def unescaped(text: str) -> str:
    """Return the text that the content of a JavaScript string literal represents."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = match.group(1) or match.group(2)
    if code is None:
        return _ESCAPES.get(match.group(3), match.group(3))
    character = chr(int(code, 16))
    return "\ufffd" if character == "\0" or "\ud800" <= character <= "\udfff" else character


MAX_DEPTH = 40
_LEVELS = (
    ("??",), ("||",), ("&&",), ("===", "!==", "==", "!="), (">", "<", ">=", "<="), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_REFUSED = {"new": "it creates an object", "function": "it contains a function", "typeof": "typeof",
            "await": "it waits", "let": "it is a program", "const": "it is a program",
            "return": "it is a program"}  # fmt: skip
_HOLE = re.compile(r"\$\{([^{}`]*)\}")


def parse(source: str) -> Tree:
    """Return the tree of an expression. Raises Untranslatable."""
    parser = _Parser(tokens(source.strip().rstrip(";")))
    tree = parser.expression()
    parser.expect_end()
    return tree


class _Parser:
    def __init__(self, pieces: list[Token]) -> None:
        self.pieces = pieces
        self.place = 0
        self.depth = 0

    @property
    def now(self) -> Token:
        return self.pieces[self.place]

    def take(self, *signs: str) -> str | None:
        """Consume and return the current sign if it is one of `signs`; otherwise return None."""
        if self.now.kind == "sign" and self.now.text in signs:
            self.place += 1
            return self.pieces[self.place - 1].text
        return None

    def expect(self, sign: str) -> None:
        if self.take(sign) is None:
            if self.now.text == "=>":
                raise Untranslatable("it contains a function")
            raise Untranslatable(f"expected {sign} where it has {self.now.text or 'its end'}")

    def expect_end(self) -> None:
        if self.now.kind != "end":
            what = (
                "it contains a function" if self.now.text == "=>" else ("it is more than one value")
            )
            raise Untranslatable(what)

    def expression(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Untranslatable("it is nested too deep")
        found = self.binary(0)
        if self.take("?"):
            yes = self.expression()
            self.expect(":")
            found = Conditional(found, yes, self.expression())
        self.depth -= 1
        return found

    def binary(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self.unary()
        found = self.binary(level + 1)
        while (sign := self.take(*_LEVELS[level])) is not None:
            found = Binary(sign, found, self.binary(level + 1))
        return found

    def unary(self) -> Tree:
        signs = []
        while (sign := self.take("!", "-", "+")) is not None:
            signs.append(sign)
            if len(signs) > MAX_DEPTH:
                raise Untranslatable("it is nested too deep")
        found = self.postfix()
        for sign in reversed(signs):
            found = Unary(sign, found)
        return found

    def postfix(self) -> Tree:
        found = self.primary()
        while True:
            if (sign := self.take(".", "?.")) is not None:
                if sign == "?." and self.take("["):
                    found = Member(found, self.closed("]"), optional=True)
                elif self.now.kind == "word":
                    found = Member(found, Literal(self.word()), optional=sign == "?.")
                else:
                    raise Untranslatable(f"nothing can be read at {self.now.text!r}")
            elif self.take("["):
                found = Member(found, self.closed("]"))
            elif self.take("("):
                found = FunctionCall(found, self.listed(")"))
            else:
                return found

    def primary(self) -> Tree:
        token = self.now
        if token.kind in ("text", "number", "template"):
            self.place += 1
            return _written(token)
        if token.kind == "word":
            return self.named()
        return self.bracketed(token)

    def bracketed(self, token: Token) -> Tree:
        if self.take("("):
            return self.closed(")")
        if self.take("["):
            return ListOf(self.listed("]"))
        if self.take("{"):
            return self.object()
        if token.text == "/":
            raise Untranslatable("it contains a regular expression")
        raise Untranslatable(f"nothing can be read at {token.text or 'its end'!r}")

    def named(self) -> Tree:
        word = self.word()
        if word in _REFUSED:
            raise Untranslatable(_REFUSED[word])
        return Literal(_WORDS[word]) if word in _WORDS else Name(word)

    def word(self) -> str:
        self.place += 1
        return self.pieces[self.place - 1].text

    def closed(self, sign: str) -> Tree:
        found = self.expression()
        self.expect(sign)
        return found

    def listed(self, end: str) -> tuple[Tree, ...]:
        items: list[Tree] = []
        while not self.take(end):
            items.append(self.expression())
            if not self.take(","):
                self.expect(end)
                break
        return tuple(items)

    def object(self) -> Tree:
        pairs: list[tuple[str, Tree]] = []
        while not self.take("}"):
            if self.now.kind not in ("word", "text", "number"):
                raise Untranslatable("an object has a computed key")
            key = self.word()
            self.expect(":")
            pairs.append((key, self.expression()))
            if not self.take(","):
                self.expect("}")
                break
        return ObjectOf(tuple(pairs))


def _written(token: Token) -> Tree:
    """Parse a text, a number or a template literal. Raises Untranslatable."""
    if token.kind == "number":
        return Literal(float(token.text) if "." in token.text else int(token.text[:300]))
    return Literal(token.text) if token.kind == "text" else _joined(token.text)


def _joined(text: str) -> Tree:
    """Parse the parts of a template literal. Raises Untranslatable."""
    parts: list[Tree] = []
    position = 0
    for hole in _HOLE.finditer(text):
        parts.append(Literal(unescaped(text[position : hole.start()])))
        parts.append(parse(hole.group(1)))
        position = hole.end()
    rest = text[position:]
    if "${" in rest:
        raise Untranslatable("a text contains a nested expression")
    parts.append(Literal(unescaped(rest)))
    return Joined(tuple(part for part in parts if part != Literal("")) or (Literal(""),))
