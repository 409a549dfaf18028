"""Glob patterns over paths: `*`, `?` and `[…]` within a folder's name, `**` over any folders.

Matched part by part and without going back, so that no pattern takes long.
"""

from fnmatch import fnmatchcase

MAX_PARTS = 32
ANY_FOLDERS = "**"


class FilePattern:
    """A pattern, taken apart; ValueError for one with more than 32 parts."""

    def __init__(self, text: str) -> None:
        self.parts = [part for part in text.split("/") if part]
        if len(self.parts) > MAX_PARTS:
            raise ValueError(f"expected at most {MAX_PARTS} parts, found {len(self.parts)}")

    @property
    def recursive(self) -> bool:
        """Whether it looks below the first folder."""
        return len(self.parts) > 1 or ANY_FOLDERS in self.parts

    def matches(self, path: str) -> bool:
        """Whether the whole path fits."""
        at = self._further({0})
        for name in path.split("/"):
            reached = set()
            for position in at:
                if position == len(self.parts):
                    continue
                part = self.parts[position]
                if part == ANY_FOLDERS:
                    reached.add(position)
                elif fnmatchcase(name, part):
                    reached.add(position + 1)
            at = self._further(reached)
            if not at:
                return False
        return len(self.parts) in at

    def _further(self, positions: set[int]) -> set[int]:
        """With those that are reached because `**` also stands for no folder at all."""
        found = set(positions)
        for position in range(len(self.parts)):
            if position in found and self.parts[position] == ANY_FOLDERS:
                found.add(position + 1)
        return found
