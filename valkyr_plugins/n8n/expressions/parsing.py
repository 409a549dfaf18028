"""Reads one JavaScript expression into a tree; statements, functions and patterns are refused."""

import re

from valkyr_plugins.n8n.expressions.lexing import Token, tokens, unescaped
from valkyr_plugins.n8n.expressions.tree import (
    Binary,
    Conditional,
    FunctionCall,
    Joined,
    ListOf,
    Literal,
    Member,
    Name,
    ObjectOf,
    Tree,
    Unary,
    Untranslatable,
)

MAX_DEPTH = 40
_LEVELS = (
    ("??",), ("||",), ("&&",), ("===", "!==", "==", "!="), (">", "<", ">=", "<="), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_REFUSED = {"new": "it makes an object", "function": "it holds a function", "typeof": "typeof",
            "await": "it waits", "let": "it is a program", "const": "it is a program",
            "return": "it is a program"}  # fmt: skip
_HOLE = re.compile(r"\$\{([^{}`]*)\}")


def parse(source: str) -> Tree:
    """The tree of an expression; raises Untranslatable."""
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
        """The sign that stands here, if it is one of these, and go on behind it."""
        if self.now.kind == "sign" and self.now.text in signs:
            self.place += 1
            return self.pieces[self.place - 1].text
        return None

    def expect(self, sign: str) -> None:
        if self.take(sign) is None:
            if self.now.text == "=>":
                raise Untranslatable("it holds a function")
            raise Untranslatable(f"expected {sign} where it has {self.now.text or 'its end'}")

    def expect_end(self) -> None:
        if self.now.kind != "end":
            what = "it holds a function" if self.now.text == "=>" else "it is more than a value"
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
            raise Untranslatable("it holds a regular expression")
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
                raise Untranslatable("an object has a key that is worked out")
            key = self.word()
            self.expect(":")
            pairs.append((key, self.expression()))
            if not self.take(","):
                self.expect("}")
                break
        return ObjectOf(tuple(pairs))


def _written(token: Token) -> Tree:
    """A text, a number or a template literal."""
    if token.kind == "number":
        return Literal(float(token.text) if "." in token.text else int(token.text[:300]))
    return Literal(token.text) if token.kind == "text" else _joined(token.text)


def _joined(text: str) -> Tree:
    """The parts of a template literal."""
    parts: list[Tree] = []
    position = 0
    for hole in _HOLE.finditer(text):
        parts.append(Literal(unescaped(text[position : hole.start()])))
        parts.append(parse(hole.group(1)))
        position = hole.end()
    rest = text[position:]
    if "${" in rest:
        raise Untranslatable("a text has an expression in it that is nested")
    parts.append(Literal(unescaped(rest)))
    return Joined(tuple(part for part in parts if part != Literal("")) or (Literal(""),))
