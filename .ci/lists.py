"""Convert GitHub's Markdown lists to the form that MkDocs' Python-Markdown reads the same way.

CommonMark treats text that is indented as far as an item's text as a part of the item;
Python-Markdown requires four spaces per level, and an empty line before a list and after an item of
several blocks.
"""

import re
from dataclasses import dataclass, field

ITEM = re.compile(r"^( *)([-*+]|\d+[.)]) +(?=\S)")
FENCE = re.compile(r"^ *(```+|~~~+)")
LEVEL = "    "


def four_spaces(markdown: str) -> str:
    """Return the page with each level of its lists indented by four spaces."""
    page = _Page()
    for line in markdown.split("\n"):
        page.add(line)
    return "\n".join(page.lines)


@dataclass
class _Item:
    column: int  # column of the item's text
    blocks: bool = False  # whether the item has more than one block


@dataclass
class _Page:
    lines: list[str] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)  # the open items, the innermost last
    fence: str = ""
    listed: bool = False  # whether the previous line belongs to a list

    def add(self, line: str) -> None:
        item = None if self.fence else ITEM.match(line)
        if not line.strip():
            self.lines.append("")
        elif item:
            self._add_item(item, line)
        else:
            self._add_text(line)
        self.listed = bool(line.strip()) and (item is not None or self.listed)

    def _add_item(self, item: re.Match[str], line: str) -> None:
        closed = self._close(len(item[1]))
        if not self.listed or any(one.blocks for one in closed):
            self._gap()
        if self.items:
            self.items[-1].blocks = True
        self.lines.append(f"{LEVEL * len(self.items)}{item[2]} {line[item.end() :]}")
        self.items.append(_Item(item.end()))

    def _add_text(self, line: str) -> None:
        indent = len(line) - len(line.lstrip())
        fence = FENCE.match(line)
        new = bool(self.lines) and not self.lines[-1]
        if not self.fence and (new or fence):
            self._close(indent)
            if self.items:
                self.items[-1].blocks = True
        column = min(self.items[-1].column, indent) if self.items else 0
        self.lines.append(LEVEL * len(self.items) + line[column:])
        if fence and fence[1].startswith(self.fence):
            self.fence = "" if self.fence else fence[1]

    def _close(self, indent: int) -> list[_Item]:
        """Close the items that a block with this indentation does not belong to."""
        kept = [item for item in self.items if item.column <= indent]
        closed, self.items = self.items[len(kept) :], kept
        return closed

    def _gap(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")
