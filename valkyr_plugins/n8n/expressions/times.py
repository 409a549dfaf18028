"""Times: `$now` is when the execution began, a text in ISO 8601 of which formats take slices."""

import re

from valkyr_plugins.n8n.expressions.tree import Untranslatable

STARTED = "execution.startedAt"
REMARK = "$now became the time at which the execution began, in UTC."
_SLICES = {
    "yyyy": "[0:4]", "yy": "[2:4]", "MM": "[5:7]", "dd": "[8:10]", "HH": "[11:13]",
    "mm": "[14:16]", "ss": "[17:19]",
}  # fmt: skip
_PART = re.compile(r"'([^']*)'|([A-Za-z])\2*|[^A-Za-z']+")


def formatted(pattern: str) -> str:
    """An expression for the start written by a pattern of Luxon's; raises Untranslatable."""
    parts: list[str] = []
    end = 0
    for match in _PART.finditer(pattern):
        piece, end = match.group(), match.end()
        if match.group(2) is None:
            literal = piece[1:-1] if piece.startswith("'") else piece
            parts.append('"' + literal.replace("\\", "\\\\").replace('"', '\\"') + '"')
        elif piece in _SLICES:
            parts.append(STARTED + _SLICES[piece])
        else:
            raise Untranslatable(f"a time's format has {piece}")
    if end != len(pattern):
        raise Untranslatable("a time's format cannot be read")
    return " ~ ".join(parts) or '""'
