"""Cuts JavaScript into words, signs, texts and numbers; what is not for us is refused."""

import re
from dataclasses import dataclass

from valkyr_plugins.n8n.expressions.tree import Untranslatable

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
    """A piece: its kind (`number`, `word`, `text`, `template`, `sign`, `end`) and its text."""

    kind: str
    text: str


def tokens(source: str) -> list[Token]:
    """The pieces of an expression, `end` last; raises Untranslatable."""
    found: list[Token] = []
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None or len(found) > MAX_TOKENS:
            raise Untranslatable(f"it cannot be read from {source[position : position + 20]!r} on")
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
    """The text that a JavaScript literal's inside means."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = match.group(1) or match.group(2)
    if code is None:
        return _ESCAPES.get(match.group(3), match.group(3))
    character = chr(int(code, 16))
    return "\ufffd" if character == "\0" or "\ud800" <= character <= "\udfff" else character
