"""CSS selectors taken apart, so that no selector takes longer than a few looks at each element.

Lexbor, like browsers, finds what a selector names by going back and forth over ancestors and
siblings: `a p p p` on a document nested 3,000 deep takes hours, in C, where no time-out is heard.
So its engine is given one compound (`p.new[title]`) at a time, and what stands between two
compounds is worked out here: from the elements found so far, each candidate's relation to them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_LENGTH = 500
# Pseudo-classes that look at one element, or at its siblings once.
PSEUDO_CLASSES = frozenset(
    (
        "not", "is", "where", "first-child", "last-child", "only-child", "nth-child",
        "nth-last-child", "first-of-type", "last-of-type", "only-of-type", "nth-of-type",
        "nth-last-of-type", "empty", "root", "checked", "disabled", "enabled",
    )
)  # fmt: skip
# They count siblings for each element: quadratic in a list's length.
COUNTING = re.compile(r":(?:nth-|only-|last-|first-of)")
# What is left out of a look at what parentheses hold, and what must not be left then.
ATTRIBUTE = re.compile(r"""\[(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[^\]"'])*+\]""", re.DOTALL)
COUNT = re.compile(r":nth-[\w-]+\(\s*(?:even|odd|[-+\dn\s]+)\)", re.IGNORECASE)
RELATED = re.compile(r"[^\s(,]\s*[>+~]\s*\S|[^\s(,]\s+[^\s),]|[(,]\s*[>+~]")
TOKEN = re.compile(
    r"""
    (?P<string> "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+' )
  | (?P<escape> \\. )
  | (?P<pseudo> ::?[\w-]+ )
  | (?P<combinator> \s*[>+~]\s* | \s+ )
  | (?P<comma> \s*,\s* )
  | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A compound, and how what it names stands to the part before: ` `, `>`, `+` or `~`."""

    combinator: str
    compound: str

    @property
    def counts(self) -> bool:
        """Whether it counts an element's siblings."""
        return COUNTING.search(self.compound) is not None


@lru_cache(maxsize=512)
def taken_apart(selector: str) -> tuple[tuple[Part, ...], ...]:
    """The parts of each alternative of a selector list; ValueError for what is not understood."""
    if len(selector) > MAX_LENGTH:
        raise ValueError(f"a selector has at most {MAX_LENGTH} characters")
    reader = _Reader()
    for match in TOKEN.finditer(selector.strip()):
        reader.take(str(match.lastgroup), match.group())
    return reader.finished()


class _Reader:
    """Goes through a selector's tokens, keeping what it has of the alternative at hand."""

    def __init__(self) -> None:
        self.alternatives: list[tuple[Part, ...]] = []
        self.parts: list[Part] = []
        self.combinator = " "
        self.compound = ""
        self.open: list[str] = []  # brackets, the innermost last

    def take(self, kind: str, text: str) -> None:
        """One token more."""
        if kind == "pseudo" and "[" not in self.open:
            self._require_known(text)
        if kind == "other" and text in "([":
            self.open.append(text)
        elif kind == "other" and text in ")]":
            self._close(text)
        if kind == "combinator" and not self.open:
            self._between(text.strip() or " ")
        elif kind == "comma" and not self.open:
            self._end()
        else:
            self.compound += text

    def finished(self) -> tuple[tuple[Part, ...], ...]:
        """All alternatives."""
        if self.open:
            raise ValueError(f"{self.open[-1]!r} is not closed")
        self._end()
        return tuple(self.alternatives)

    def _close(self, text: str) -> None:
        if not self.open or self.open.pop() + text not in ("()", "[]"):
            raise ValueError(f"{text!r} closes nothing")
        if text == ")" and not self.open:
            _require_plain(self.compound + text)

    def _require_known(self, text: str) -> None:
        name = text.lstrip(":").lower()
        if text.startswith("::") or name not in PSEUDO_CLASSES:
            known = ", ".join(sorted(PSEUDO_CLASSES))
            raise ValueError(f"{text!r} is not supported; supported: {known}")

    def _between(self, combinator: str) -> None:
        if not self.compound:
            raise ValueError(f"nothing stands before {combinator!r}")
        self.parts.append(Part(self.combinator, self.compound))
        self.combinator, self.compound = combinator, ""

    def _end(self) -> None:
        if not self.compound:
            raise ValueError("a selector is empty, or ends where something should follow")
        self.alternatives.append((*self.parts, Part(self.combinator, self.compound)))
        self.parts, self.combinator, self.compound = [], " ", ""


def _require_plain(compound: str) -> None:
    """ValueError where parentheses hold more than compounds, or `2n + 1` and the like."""
    bare = ATTRIBUTE.sub("[]", compound)
    bare = COUNT.sub("", bare)
    if related := RELATED.search(bare):
        raise ValueError(
            f"within parentheses {related.group().strip()[:40]!r} is not supported: name elements "
            "by themselves there, without what they stand in or beside"
        )
