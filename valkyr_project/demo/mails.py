"""The mails that workers lay into a folder, counted."""

from pathlib import Path


class Mails:
    """Counts what a folder gains from now on."""

    def __init__(self, folder: Path) -> None:
        """Remember what is there; the folder need not exist yet."""
        self._folder = folder
        self._before = self._names()

    def new(self) -> int | None:
        """How many mails came; None when the folder is not there, so mail goes elsewhere."""
        return len(self._names() - self._before) if self._folder.is_dir() else None

    def _names(self) -> set[str]:
        return {path.name for path in self._folder.glob("*.eml")}
