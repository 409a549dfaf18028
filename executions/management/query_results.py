"""The limits of a query at the command line, and its rows as a table, CSV or JSON."""

import csv
import json
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import count
from typing import Any

from django.core.management.base import CommandParser
from django.core.serializers.json import DjangoJSONEncoder

# Maximum characters of a value in a table; CSV and JSON contain the whole value.
WIDEST = 60
MOST_ROWS, MOST_SECONDS = 1_000_000, 3600.0


class AnyValueEncoder(DjangoJSONEncoder):
    """Encodes values without a JSON type as text."""

    def default(self, o: Any) -> Any:
        """Return the value that Django's encoder makes, or the value's text."""
        try:
            return super().default(o)
        except TypeError:
            return str(o)


def add_query_arguments(parser: CommandParser) -> None:
    """Add the options for the format of the rows, their maximum number, and the time limit."""
    parser.add_argument("--format", choices=["table", "csv", "json"], default="table")
    parser.add_argument(
        "--limit", type=_number, default=1000, metavar="N", help="rows (default: 1000)"
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=30,
        metavar="SECONDS",
        help="of the statement (default: 30)",
    )


def result_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]], form: str) -> Iterator[str]:
    """Yield the lines of the output (JSON as one string); `form` is a choice of `--format`."""
    if form == "json":
        # Objects, because lists of values would not name the columns.
        names = _distinct(columns)
        named = [dict(zip(names, row, strict=True)) for row in rows]
        yield json.dumps(named, cls=AnyValueEncoder, indent=2, ensure_ascii=False)
    elif form == "csv":
        yield from (_csv(row) for row in (columns, *rows))
    else:
        yield from _table(columns, rows)


def _distinct(columns: Sequence[str]) -> list[str]:
    """Return the names of columns; a repeated name gets a number, as in `id_2`."""
    names: list[str] = []
    for column in columns:
        numbered = (f"{column}_{number}" for number in count(2))
        names.append(column if column not in names else next(n for n in numbered if n not in names))
    return names


def _csv(row: Sequence[Any]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="").writerow(row)
    return line.getvalue()


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for row in (columns, ["-" * width for width in widths], *cells):
        yield "  ".join(c.ljust(width) for c, width in zip(row, widths, strict=True)).rstrip()


def _cell(value: Any) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _number(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if not 1 <= value <= MOST_ROWS:
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_ROWS:,}")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.001 <= value <= MOST_SECONDS:
        raise ArgumentTypeError(f"{text!r} is not from 0.001 to {MOST_SECONDS:g} seconds")
    return value
