"""An HTML document by Lexbor, HTML5's own way of reading it, and what a selector finds in it."""

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from runners.public.modules import StepError
from valkyr_plugins.connectors.data.selectors import Part, taken_apart

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Reading takes time that grows with size times depth; browsers stop at this depth, too.
MAX_DEPTH = 512
MAX_SIBLINGS = 5_000
TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,30})")
# They hold nothing, or end where the next of them begins; in SVG and MathML nothing is so.
FLAT = frozenset(
    (
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr", "p", "li", "dd", "dt", "tr", "td", "th", "tbody", "thead", "tfoot",
        "option", "a",
    )
)  # fmt: skip


class Document:
    """A document, read once. Raises StepError for one that nests too deep to be read in time."""

    def __init__(self, html: str) -> None:
        from selectolax.lexbor import LexborHTMLParser

        _require_flat(html)
        self._parser = LexborHTMLParser(html)
        self._crowded: bool | None = None

    @property
    def root(self) -> "LexborNode | None":
        """The element all others are in."""
        return self._parser.root

    def find(self, selector: str, within: "LexborNode") -> "list[LexborNode]":
        """The elements below one that a selector names, in the document's order.

        The root counts as below itself, so that `html` names it.
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
                f"the selector {part.compound[:100]!r} counts siblings, and some element has more "
                f"than {MAX_SIBLINGS:,} children: select them all, and pick by a later step"
            )
        try:
            nodes = within.css(part.compound)
        # selectolax raises an error of its own for a selector, of no public class.
        except Exception as error:
            raise StepError(f"{part.compound[:100]!r} is no CSS selector: {error}") from error
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
    """StepError where tags, counted name by name, stay open too many at a time."""
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
                f"<{tag[:30]}>): it nests too deep to be read"
            )


Related = Callable[["LexborNode"], bool]
Nodes = "list[LexborNode]"


def _below(found: "list[LexborNode]", within: "LexborNode") -> Related:
    """Whether an ancestor is among those found; each ancestor is looked at once."""
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
