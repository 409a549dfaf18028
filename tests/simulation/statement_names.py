"""A statement's name in a trace: its file's name, or its first words; the same in every run."""

import re
from functools import cache
from typing import Any

from dlq import statements as of_dlq
from executions.database import statements as of_executions
from runners import statements as of_runners

FOLDERS = (of_runners, of_executions, of_dlq)
LENGTH = 60
CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|_?s?\d{4,}(_x\d+)?")
COMMANDS = {"_commit_gen": "COMMIT", "_rollback_gen": "ROLLBACK"}


def command(generator: Any) -> str | None:
    """Return the statement that a psycopg generator sends itself; None if it sends a prepared one
    or none.
    """
    return COMMANDS.get(_name(generator))


def query(generator: Any) -> str | None:
    """Return the statement that a psycopg generator executes; None if it executes none."""
    if _name(generator) not in {"_execute_gen", "_executemany_gen_pipeline"}:
        return None
    frame = getattr(generator, "gi_frame", None)
    return None if frame is None else name_of(str(frame.f_locals["query"]))


def name_of(text: str) -> str:
    """Return the name of a statement."""
    named = _named().get(text)
    if named is not None:
        return named
    return CHANGING.sub("?", " ".join(text.split()))[:LENGTH]


def ends_pipeline(generator: Any) -> bool:
    """Return whether the generator sends the queued statements, and waits for the answers."""
    return _name(generator) in {"_end", "_exit_gen"}


def _name(generator: Any) -> str:
    return str(getattr(getattr(generator, "gi_code", None), "co_name", ""))


@cache
def _named() -> dict[str, str]:
    return {
        folder.statement(file.stem): file.stem
        for folder in FOLDERS
        for file in sorted(folder.FOLDER.glob("*.sql"))
    }
