"""Names inside archives: only those that stay where an archive is unpacked, each once."""

import re
from collections.abc import Iterable

from runners.public.modules import StepError

DRIVE = re.compile(r"[A-Za-z]:")
MAX_NAME = 1_000


def safe_name(name: str) -> str:
    """The name, if it leads nowhere else; StepError for one that does ("zip slip")."""
    parts = name.removesuffix("/").split("/")
    climbs = name.startswith("/") or ".." in parts or "\\" in name or DRIVE.match(name)
    if climbs:
        raise StepError(
            f"the archive's entry {name[:200]!r} leads outside of the folder it is unpacked in"
        )
    if not all(parts) or "." in parts or not name.isprintable() or len(name) > MAX_NAME:
        raise StepError(
            f"the archive's entry {name[:200]!r} has no proper name: expected folders and a name "
            f"with '/' between them, at most {MAX_NAME} characters"
        )
    return name


def require_apart(names: Iterable[str]) -> None:
    """StepError where a name comes twice, or is a file here and a folder there."""
    files: set[str] = set()
    folders: set[str] = set()
    for name in names:
        if name in files:
            raise StepError(f"the archive holds {name[:200]!r} twice")
        files.add(name)
        parts = name.split("/")
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    both = sorted(files & folders)
    if both:
        raise StepError(f"the archive holds {both[0][:200]!r} as a file and as a folder")
