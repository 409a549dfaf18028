"""Split a JavaScript program into tokens, without its comments.

The importer needs only the names of the n8n data that a program reads, not a tree. It reads a
program once, in linear time, and never runs it.
"""

import re
from dataclasses import dataclass

WORD, TEXT, TEMPLATE, REGEX, NUMBER, SIGN = "word", "text", "template", "regex", "number", "sign"
MAX_TOKENS = 30_000
_SPACE = re.compile(r"(?:\s+|//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*+\*/)++")
_TOKEN = re.compile(
    r"""(?P<word>[#@]?[A-Za-z_$\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*)
    |(?P<number>\.?\d[\w.]*)
    |(?P<text>"(?:\\(?:.|\r\n|\n)|[^"\\\n])*+"|'(?:\\(?:.|\r\n|\n)|[^'\\\n])*+')
    |(?P<sign>=>|\.\.\.|\?\.(?!\d)|\?\?=?|&&=?|\|\|=?|\*\*=?|[=!]==?|>>>?=?|<<=?|\+\+|--
        |[-+*%&|^<>]=?|[~!=?:.,;()\[\]{}])""",
    re.VERBOSE,
)
# Limited in length; otherwise each slash without an end would cause a search through the whole
# line.
_REGEX = re.compile(
    r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n]){0,1000}+\]|[^/\\\[\n]){1,2000}+/[A-Za-z]*"
)
_CHUNK = re.compile(r"(?:\\.|\$(?!\{)|[^\\$`])*+", re.DOTALL)
# After these words, a slash begins a regular expression.
_BEFORE_VALUE = frozenset(
    ("return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do",
     "instanceof", "yield", "await")
)  # fmt: skip
_ENDS_VALUE = frozenset((")", "]", "}", "++", "--"))
_PAIRS = {")": "(", "]": "[", "}": "{"}


class UnreadableProgram(Exception):
    """A program cannot be split into tokens, or its brackets do not match."""


@dataclass(frozen=True, slots=True)
class ProgramToken:
    """One token, its start, and the number of brackets around it (`depth`)."""

    kind: str
    text: str
    start: int
    depth: int


def tokens(source: str) -> list[ProgramToken]:
    """Return the tokens of a program. Raises UnreadableProgram."""
    return _Scanner(source).scan()


class _Scanner:
    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.found: list[ProgramToken] = []
        self.open: list[str] = []  # open brackets; "`" stands for the code in a template literal
        self.entered = 0  # the number of tokens before the code in the template literal

    def scan(self) -> list[ProgramToken]:
        while self.position < len(self.source):
            if space := _SPACE.match(self.source, self.position):
                self.position = space.end()
            else:
                self.next()
            if len(self.found) > MAX_TOKENS:
                raise UnreadableProgram("it is too long")
        if self.open:
            raise UnreadableProgram(f"its {self.open[-1]} is not closed")
        return self.found

    def next(self) -> None:
        """Read the next token. Raises UnreadableProgram."""
        first = self.source[self.position]
        if first == "`":
            self.position += 1
            self.chunk()
        elif first == "}" and self.open and self.open[-1] == "`":
            self.open.pop()
            self.position += 1
            self.chunk()
        elif first == "/":
            self.slash()
        else:
            self.plain()

    def plain(self) -> None:
        match = _TOKEN.match(self.source, self.position)
        if match is None:
            raise UnreadableProgram(f"it has {self.source[self.position]!r} outside of a text")
        text = match.group()
        if text in _PAIRS:
            if not self.open or self.open.pop() != _PAIRS[text]:
                raise UnreadableProgram(f"its {text} closes nothing")
            self.add(SIGN, text)
        else:
            self.add(match.lastgroup or SIGN, text)
            if text in ("(", "[", "{"):
                self.open.append(text)

    def slash(self) -> None:
        if self.source.startswith("/*", self.position):
            raise UnreadableProgram("its /* is not closed")
        match = _REGEX.match(self.source, self.position) if self.value_follows() else None
        if match is not None:
            self.add(REGEX, match.group())
        else:
            self.add(SIGN, "/=" if self.source.startswith("/=", self.position) else "/")

    def value_follows(self) -> bool:
        """Return whether a value, and not an operator, can follow the last token."""
        if len(self.found) == self.entered:
            return True
        last = self.found[-1]
        if last.kind == WORD:
            return last.text in _BEFORE_VALUE
        return last.kind == SIGN and last.text not in _ENDS_VALUE

    def chunk(self) -> None:
        """Read a template's text, up to its end or its next `${`. Raises UnreadableProgram."""
        match = _CHUNK.match(self.source, self.position)
        end = match.end() if match else self.position
        self.add(TEMPLATE, self.source[self.position : end])
        if self.source.startswith("`", end):
            self.position = end + 1
        elif self.source.startswith("${", end):
            self.position = end + 2
            self.open.append("`")
            self.entered = len(self.found)
        else:
            raise UnreadableProgram("its ` is not closed")

    def add(self, kind: str, text: str) -> None:
        self.found.append(ProgramToken(kind, text, self.position, len(self.open)))
        self.position += len(text)
