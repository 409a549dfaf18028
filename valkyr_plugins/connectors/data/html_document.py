"""An HTML document, parsed as HTML5 by Lexbor, and the search for elements by selector."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from runners.public.modules import StepError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


# Evaluate CSS selectors in parts, so that a selector checks each element only a few times.
#
# Lexbor, like browsers, matches a selector by backtracking over ancestors and siblings. In a
# document nested 3,000 levels deep, `a p p p` takes hours, in C code that no timeout can interrupt.
# So Lexbor gets one compound selector (`p.new[title]`) at a time. The combinators between compounds
# are evaluated here, by the relation of each candidate to the elements found so far.


MAX_LENGTH = 500
# Pseudo-classes that check one element, or each of its siblings once.
PSEUDO_CLASSES = frozenset(
    (
        "not", "is", "where", "first-child", "last-child", "only-child", "nth-child",
        "nth-last-child", "first-of-type", "last-of-type", "only-of-type", "nth-of-type",
        "nth-last-of-type", "empty", "root", "checked", "disabled", "enabled",
    )
)  # fmt: skip
# Pseudo-classes that count siblings for each element, which is quadratic in the number of siblings.
COUNTING = re.compile(r":(?:nth-|only-|last-|first-of)")
# ATTRIBUTE and COUNT match parts to ignore in parentheses; RELATED matches what must not remain.
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
    """A compound selector, and its relation to the part before it: ` `, `>`, `+` or `~`."""

    combinator: str
    compound: str

    @property
    def counts(self) -> bool:
        """Return whether the part counts siblings, as with `:nth-child`, but not `:first-child`."""
        return COUNTING.search(self.compound) is not None


@lru_cache(maxsize=512)
def taken_apart(selector: str) -> tuple[tuple[Part, ...], ...]:
    """Split a selector list into alternatives, and each of them into parts. Raises ValueError."""
    if len(selector) > MAX_LENGTH:
        raise ValueError(f"a selector has at most {MAX_LENGTH} characters")
    reader = _Reader()
    for match in TOKEN.finditer(selector.strip()):
        reader.take(str(match.lastgroup), match.group())
    return reader.finished()


class _Reader:
    """Reads the tokens of a selector and collects its alternatives, which commas separate."""

    def __init__(self) -> None:
        self.alternatives: list[tuple[Part, ...]] = []
        self.parts: list[Part] = []
        self.combinator = " "
        self.compound = ""
        self.open: list[str] = []  # open brackets, the innermost last

    def take(self, kind: str, text: str) -> None:
        """Add a token to the current alternative. Raises ValueError if it is not supported."""
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
        """Return all alternatives. Raises ValueError if the selector is incomplete."""
        if self.open:
            raise ValueError(f"{self.open[-1]!r} is not closed")
        self._end()
        return tuple(self.alternatives)

    def _close(self, text: str) -> None:
        if not self.open or self.open.pop() + text not in ("()", "[]"):
            raise ValueError(f"{text!r} closes no open bracket")
        if text == ")" and not self.open:
            _require_plain(self.compound + text)

    def _require_known(self, text: str) -> None:
        name = text.lstrip(":").lower()
        if text.startswith("::") or name not in PSEUDO_CLASSES:
            known = ", ".join(sorted(PSEUDO_CLASSES))
            raise ValueError(f"{text!r} is not supported; supported: {known}")

    def _between(self, combinator: str) -> None:
        if not self.compound:
            raise ValueError(f"there is no selector before {combinator!r}")
        self.parts.append(Part(self.combinator, self.compound))
        self.combinator, self.compound = combinator, ""

    def _end(self) -> None:
        if not self.compound:
            raise ValueError("a selector is empty or incomplete")
        self.alternatives.append((*self.parts, Part(self.combinator, self.compound)))
        self.parts, self.combinator, self.compound = [], " ", ""


def _require_plain(compound: str) -> None:
    """Raise ValueError unless parentheses contain only compounds, or counts such as `2n + 1`."""
    bare = ATTRIBUTE.sub("[]", compound)
    bare = COUNT.sub("", bare)
    if related := RELATED.search(bare):
        raise ValueError(
            f"within parentheses {related.group().strip()[:40]!r} is not supported: use simple "
            "selectors there, without parents or siblings"
        )


# Parsing takes time proportional to size times depth. Browsers have the same limit of depth.
MAX_DEPTH = 512
MAX_SIBLINGS = 5_000
TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,30})")
# Elements that are empty or end where the next one begins. In SVG and MathML, no element does.
FLAT = frozenset(
    (
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr", "p", "li", "dd", "dt", "tr", "td", "th", "tbody", "thead", "tfoot",
        "option", "a",
    )
)  # fmt: skip


class Document:
    """A parsed document. Raises StepError if its elements are nested too deeply."""

    def __init__(self, html: str) -> None:
        from selectolax.lexbor import LexborHTMLParser

        _require_flat(html)
        self._parser = LexborHTMLParser(html)
        self._crowded: bool | None = None

    @property
    def root(self) -> "LexborNode | None":
        """Return the root element; None if there is none."""
        return self._parser.root

    def find(self, selector: str, within: "LexborNode") -> "list[LexborNode]":
        """Return the descendants of `within` that match the selector, in document order.

        The root counts as its own descendant: `html` matches it. Raises StepError or ValueError.
        """
        alternatives = taken_apart(selector)
        found = [self._follow(parts, within) for parts in alternatives]
        if len(found) == 1:
            return found[0]
        order = _order(within)
        every = {node.mem_id: node for nodes in found for node in nodes}
        return sorted(every.values(), key=lambda node: order[node.mem_id])

    def _follow(self, parts: tuple[Part, ...], within: "LexborNode") -> "list[LexborNode]":
        found: list[LexborNode] = []
        for number, part in enumerate(parts):
            candidates = self._matching(part, within)
            if number == 0:
                found = candidates
            else:
                related = RELATIONS[part.combinator](found, within)
                found = [node for node in candidates if related(node)]
            if not found:
                return []
        return found

    def _matching(self, part: Part, within: "LexborNode") -> "list[LexborNode]":
        if part.counts and self._is_crowded():
            raise StepError(
                f"the selector {part.compound[:100]!r} counts siblings, but an element has "
                f"more than {MAX_SIBLINGS:,} children: select all of them, and choose in a "
                "later step"
            )
        try:
            nodes = within.css(part.compound)
        # selectolax raises a private exception for an invalid selector.
        except Exception as error:
            raise StepError(f"{part.compound[:100]!r} is not a CSS selector: {error}") from error
        if within.parent is None or within.parent.is_document_node:
            return nodes
        return [node for node in nodes if node.mem_id != within.mem_id]

    def _is_crowded(self) -> bool:
        if self._crowded is None:
            counted: Counter[int] = Counter()
            for node in self.root.traverse() if self.root is not None else ():
                if node.parent is not None:
                    counted[node.parent.mem_id] += 1
            self._crowded = max(counted.values(), default=0) > MAX_SIBLINGS
        return self._crowded


def _require_flat(html: str) -> None:
    """Raise StepError if tags are nested too deeply; an end tag closes one of the same name."""
    foreign = re.search(r"<(?:svg|math)", html, re.IGNORECASE) is not None
    counted: Counter[str] = Counter()
    depth = 0
    for closing, name in TAG.findall(html):
        tag = name.lower()
        if tag in FLAT and not foreign:
            continue
        if not closing:
            counted[tag] += 1
            depth += 1
        elif counted[tag]:
            counted[tag] -= 1
            depth -= 1
        if depth > MAX_DEPTH:
            raise StepError(
                f"the HTML leaves more than {MAX_DEPTH} elements open at a time (such as "
                f"<{tag[:30]}>): it is nested too deeply"
            )


Related = Callable[["LexborNode"], bool]
Nodes = "list[LexborNode]"


def _below(found: "list[LexborNode]", within: "LexborNode") -> Related:
    """Return a function that says whether an element has an ancestor in `found`.

    Each ancestor is checked only once.
    """
    known = {within.mem_id: False}
    members = {node.mem_id for node in found}

    def related(node: "LexborNode") -> bool:
        path, above = [], node.parent
        while above is not None and above.mem_id not in known and above.mem_id not in members:
            path.append(above.mem_id)
            above = above.parent
        inside = above is not None and (above.mem_id in members or known[above.mem_id])
        known.update(dict.fromkeys(path, inside))
        return inside

    return related


def _child(found: "list[LexborNode]", within: "LexborNode") -> Related:
    members = {node.mem_id for node in found}
    return lambda node: node.parent is not None and node.parent.mem_id in members


def _next(found: "list[LexborNode]", within: "LexborNode") -> Related:
    followers = {after.mem_id for node in found if (after := _next_element(node)) is not None}
    return lambda node: node.mem_id in followers


def _later(found: "list[LexborNode]", within: "LexborNode") -> Related:
    order = _order(within)
    first: dict[int, int] = {}
    for node in found:
        if node.parent is not None:
            place = order[node.mem_id]
            first[node.parent.mem_id] = min(place, first.get(node.parent.mem_id, place))

    def related(node: "LexborNode") -> bool:
        start = None if node.parent is None else first.get(node.parent.mem_id)
        return start is not None and order[node.mem_id] > start

    return related


RELATIONS: dict[str, Callable[["list[LexborNode]", "LexborNode"], Related]] = {
    " ": _below,
    ">": _child,
    "+": _next,
    "~": _later,
}


def _next_element(node: "LexborNode") -> "LexborNode | None":
    after = node.next
    while after is not None and not after.is_element_node:
        after = after.next
    return after


def _order(within: "LexborNode") -> dict[int, int]:
    return {node.mem_id: place for place, node in enumerate(within.traverse())}
