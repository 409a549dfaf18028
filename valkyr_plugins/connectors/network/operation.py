"""What kind of operation a GraphQL document holds. Pure."""

import re

KINDS = ("query", "mutation", "subscription")
# Block strings, strings and comments, which may hold any word or brace.
_QUOTED = re.compile(r'"""(?:\\"""|[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|#[^\n]*')
_BRACKET = re.compile(r"([{}()])")
# On what stands outside of all brackets: a keyword and perhaps a name, or a selection alone.
_DEFINITION = re.compile(r"([_A-Za-z]\w*)\s*([_A-Za-z]\w*)?[^{}]*\{\}|\{\}")


def operations(document: str) -> dict[str, str]:
    """The kind of each operation by its name; one without a name is called ""."""
    found: dict[str, str] = {}
    for definition in _DEFINITION.finditer(_outside(document)):
        kind, name = definition.group(1) or "query", definition.group(2) or ""
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
