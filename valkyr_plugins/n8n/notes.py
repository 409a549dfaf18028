"""Sticky notes, as the studio keeps them: `ui.notes` of the document."""

from typing import Any

from valkyr_plugins.n8n.export import STRETCH, Node
from valkyr_plugins.n8n.secrecy import without_secrets

KIND = "stickyNote"
MAX_TEXT = 10_000
MAX_NOTES = 500
SIZES = (10, 5_000)
# n8n's colours by number, as the nearest of the studio's.
COLOURS = {1: "yellow", 2: "yellow", 3: "pink", 4: "green", 5: "blue", 6: "pink", 7: "grey"}


def note(node: Node, number: int) -> dict[str, Any]:
    """One note: where it lies, its size, its text in Markdown, the colour's name."""
    parameters = node.parameters
    text = parameters.get("content")
    found = {
        "id": f"note{number}",
        "x": node.x,
        "y": node.y,
        "w": round(_size(parameters.get("width"), 240) * STRETCH),
        "h": _size(parameters.get("height"), 160),
        "text": without_secrets(text[:MAX_TEXT]) if isinstance(text, str) else "",
    }
    colour = parameters.get("color")
    name = COLOURS.get(colour) if isinstance(colour, int) else None
    return found | ({"color": name} if name else {})


def _size(value: Any, default: int) -> float:
    sound = isinstance(value, (int, float)) and not isinstance(value, bool)
    return round(min(max(value, SIZES[0]), SIZES[1])) if sound else default
