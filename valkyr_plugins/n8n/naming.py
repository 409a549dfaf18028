"""Ids of tasks, credentials and variables, made of what people called things."""

import re
import unicodedata

MAX_ID = 60
MAX_CREDENTIAL = 80
_GAP = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def plain(name: str) -> str:
    """A name in small letters, digits and single underscores; "" where nothing is left of it."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _GAP.sub("_", folded.lower()).strip("_")[:MAX_ID].strip("_")


def credential_name(name: str, kind: str) -> str:
    """What a credential of n8n is to be called here: a small letter first."""
    found = plain(name) or plain(_CAMEL.sub(" ", kind)) or "credential"
    return found if found[0].isalpha() else f"c_{found}"


def workflow_slug(name: str) -> str:
    """The slug that a workflow of n8n most likely gets here."""
    return plain(name).replace("_", "-") or "workflow"


class Ids:
    """Gives out ids, each once, in whatever body: a reference then means one task only."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str, otherwise: str = "task") -> str:
        """An id for something of this name."""
        base = plain(name) or plain(_CAMEL.sub(" ", otherwise)) or "task"
        base = base if base[0].isalpha() else f"n_{base}"
        found, number = base, 2
        while found in self._taken:
            found, number = f"{base}_{number}", number + 1
        self._taken.add(found)
        return found
