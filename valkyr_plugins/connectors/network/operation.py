"""What kind of operation a GraphQL document holds. Pure, in time linear in the document.

A tenant writes the document, and Python's `re` holds the interpreter while it matches. So no
expression here can backtrack.
"""

import re

KINDS = ("query", "mutation", "subscription")
# Block strings, strings and comments, which may hold any word or brace. One without an end reaches
# to the end of the document, or of its line.
_QUOTED = re.compile(
    r'"""(?:\\"""|[^"]|"(?!""))*+(?:""")?|"(?:\\.|[^"\\\n])*+"?|#[^\n]*',
)
_BRACKET = re.compile(r"([{}()])")
# On what stands outside of all brackets: a keyword and perhaps a name.
_HEAD = re.compile(r"([_A-Za-z]\w*+)\s*+([_A-Za-z]\w*+)?")


def operations(document: str) -> dict[str, str]:
    """The kind of each operation by its name; one without a name is called ""."""
    found: dict[str, str] = {}
    *definitions, _ = _outside(document).split("{}")
    for definition in definitions:
        head = _HEAD.search(definition)  # none: a selection alone
        kind, name = ("query", "") if head is None else (head[1], head[2] or "")
        if kind in KINDS:
            found[name] = kind
    return found


def kind_of(document: str, name: str | None) -> str:
    """query, mutation or subscription: what is run; "" where the document does not tell."""
    known = operations(document)
    if name is not None:
        return known.get(name, "")
    return next(iter(known.values())) if len(known) == 1 else ""


def _outside(document: str) -> str:
    """The document without what its brackets hold; of the outermost braces {} stays."""
    kept, depth = [], 0
    for piece in _BRACKET.split(_QUOTED.sub(" ", document)):
        if piece in ("}", ")"):
            depth -= 1
        if depth == 0 and piece not in ("(", ")"):
            kept.append(piece)
        if piece in ("{", "("):
            depth += 1
    return "".join(kept)
