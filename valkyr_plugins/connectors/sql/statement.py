"""A statement's text, its bound parameters, and the conversion of values to JSON.

A template in the text would let data become SQL, so publishing rejects it. psycopg prepares the
text, so the server rejects several statements in one text.
"""

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from functools import singledispatch
from types import NoneType
from typing import Any

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from runners.public.modules import StepError

COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/|\(")
WORD = re.compile(r"[A-Za-z]+")
# Statements whose results can be read in parts, through a cursor.
STREAMED = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
READING = STREAMED | {"SHOW", "EXPLAIN"}
# The step's own transaction must include all statements, and COPY bypasses the parameters.
NOT_A_STEPS = frozenset(
    (
        *("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"),
        *("PREPARE", "COPY", "LISTEN", "DISCARD"),
    )
)


def first_word(statement: str) -> str:
    """Return the first word, in capitals, after comments and opening brackets; "" if none."""
    at = 0
    while found := COMMENT.match(statement, at):
        at = found.end()
    word = WORD.match(statement, at)
    return word.group().upper() if word else ""


def require_reading(statement: str) -> str:
    """Return a statement's first word. Raises StepError unless it reads, as SELECT and SHOW do."""
    word = first_word(statement)
    if word not in READING:
        raise StepError(
            f"sql.query only reads: expected SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN, found "
            f"{word[:20] or 'nothing'}; use sql.execute"
        )
    return word


def require_a_steps(statement: str) -> None:
    """Raise StepError for an empty statement, or for a forbidden one such as COMMIT or COPY."""
    word = first_word(statement)
    if not word or word in NOT_A_STEPS:
        raise StepError(
            f"sql.execute runs its statements in its own transaction: {word or 'nothing'} is not "
            "allowed"
        )


def bound(statement: str, rows: Sequence[Mapping[str, Any]]) -> TextClause:
    """Return the statement for these rows of parameters. Raises StepError if names do not match.

    An object, or a list that contains an object or list, is bound as jsonb; other lists as arrays.
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
            f"the statement names :{', :'.join(missing)[:200]}, which params does not contain; "
            "write a colon that is not a parameter as \\:"
        )
    if unknown:
        raise StepError(
            f"params holds {', '.join(unknown)[:200]}, which the statement does not use as "
            f":{unknown[0][:60]}"
        )


def _is_document(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, dict | list) for item in value)
    return isinstance(value, dict)


# Convert PostgreSQL's values to JSON without loss of precision.
#
# Decimals become text, times ISO 8601, and bytes Base64. Values of JSON's own types stay unchanged.


MAX_BYTES = 5 * 1024 * 1024  # maximum size of an output


@singledispatch
def json_value(value: Any) -> Any:
    """Convert a value from the database to JSON; values of unknown types become text."""
    return str(value)


@json_value.register(NoneType | bool | int | str)
def _as_it_is(value: Any) -> Any:
    return value


@json_value.register
def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


@json_value.register
def _decimal(value: Decimal) -> str:
    return format(value, "f")


@json_value.register(date | time)  # includes datetime, a subclass of date
def _time(value: Any) -> str:
    return str(value.isoformat())


@json_value.register
def _duration(value: timedelta) -> str:
    """Return a duration as ISO 8601, in days and seconds: P1DT3600S."""
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    seconds = format(Decimal(value.seconds) + Decimal(value.microseconds) / 1_000_000, "f")
    return f"{sign}P{value.days}DT{seconds}S"


@json_value.register(bytes | bytearray | memoryview)
def _bytes(value: Any) -> str:
    return base64.b64encode(value).decode("ascii")


@json_value.register(dict)
def _object(value: dict[Any, Any]) -> dict[str, Any]:
    return {str(key): json_value(item) for key, item in value.items()}


@json_value.register(list | tuple)
def _list(value: Any) -> list[Any]:
    return [json_value(item) for item in value]


class Rows:
    """Collects rows as a step's output, and counts their size as they arrive."""

    def __init__(self, columns: Sequence[str], most: int) -> None:
        repeated = sorted({name for name in columns if list(columns).count(name) > 1})
        if repeated:
            raise StepError(
                f"the rows have the column {', '.join(repeated)[:200]} twice: give them "
                "different names with AS"
            )
        self.columns = list(columns)
        self.rows: list[dict[str, Any]] = []
        self._most = most
        self._bytes = 0

    def add(self, found: Iterable[Sequence[Any]]) -> None:
        """Add rows. Raises StepError above `most` rows, or above 5 MiB."""
        for values in found:
            if len(self.rows) == self._most:
                raise StepError(
                    f"there are more than {self._most:,} rows (maxRows): select fewer rows, "
                    "page by a key with LIMIT, or raise maxRows"
                )
            row = dict(zip(self.columns, map(json_value, values), strict=True))
            self._bytes += len(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
            if self._bytes > MAX_BYTES:
                raise StepError(
                    f"the rows have more than {MAX_BYTES >> 20} MiB, the maximum of an "
                    "output: select fewer columns, or page by a key with LIMIT"
                )
            self.rows.append(row)
