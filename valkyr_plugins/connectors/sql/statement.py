"""A statement's text and its parameters: the text is the author's alone, the rest is bound.

A template in the text would let data become SQL, so publishing refuses one. A text is one
statement; the server itself refuses several, because psycopg prepares it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from runners.public.modules import StepError

COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/|\(")
WORD = re.compile(r"[A-Za-z]+")
# They can be read a part at a time, through a cursor.
STREAMED = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
READING = STREAMED | {"SHOW", "EXPLAIN"}
# The step's own transaction ends when all of it is done, and copying goes past the parameters.
NOT_A_STEPS = frozenset(
    (
        *("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"),
        *("PREPARE", "COPY", "LISTEN", "DISCARD"),
    )
)


def first_word(statement: str) -> str:
    """The word a statement begins with, in capitals, past comments and brackets."""
    at = 0
    while found := COMMENT.match(statement, at):
        at = found.end()
    word = WORD.match(statement, at)
    return word.group().upper() if word else ""


def require_reading(statement: str) -> str:
    """The first word of a statement that reads; StepError for another."""
    word = first_word(statement)
    if word not in READING:
        raise StepError(
            f"sql.query only reads: expected SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN, found "
            f"{word[:20] or 'nothing'}; use sql.execute"
        )
    return word


def require_a_steps(statement: str) -> None:
    """StepError for what would end the step's transaction, or begins with no word."""
    word = first_word(statement)
    if not word or word in NOT_A_STEPS:
        raise StepError(
            f"sql.execute runs its statements in one transaction of its own: {word or 'nothing'} "
            "cannot be among them"
        )


def bound(statement: str, rows: Sequence[Mapping[str, Any]]) -> TextClause:
    """The statement for these rows of parameters; StepError where names do not fit.

    An object, or a list that holds one, is bound as jsonb; another list as an array.
    """
    clause = text(statement)
    wanted = set(clause.compile().params)
    for row in rows or [{}]:
        _require_names(wanted, set(row))
    documents = sorted({name for row in rows for name, value in row.items() if _is_document(value)})
    return clause.bindparams(*(bindparam(name, type_=JSONB) for name in documents))


def _require_names(wanted: set[str], given: set[str]) -> None:
    missing, unknown = sorted(wanted - given), sorted(given - wanted)
    if missing:
        raise StepError(
            f"the statement names :{', :'.join(missing)[:200]}, which params does not hold; write "
            "a colon that is no parameter as \\:"
        )
    if unknown:
        raise StepError(
            f"params holds {', '.join(unknown)[:200]}, which the statement does not name as "
            f":{unknown[0][:60]}"
        )


def _is_document(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, dict | list) for item in value)
    return isinstance(value, dict)
