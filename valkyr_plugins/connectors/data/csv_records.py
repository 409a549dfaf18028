"""A CSV's records: fields cut and counted, or a StepError that names the line that does not fit.

Values stay text: a postal code of 01067 must not become a number on the way.
"""

import csv
from collections.abc import Iterable, Iterator

from runners.public.modules import StepError

Record = tuple[int, list[str]]


def records(lines: Iterable[str], delimiter: str, quote: str, before: int = 0) -> Iterator[Record]:
    """The lines that hold anything, each with the number of its last line.

    `before` is how many lines of the file were read earlier. A field has at most
    `csv.field_size_limit()` characters, 131,072; that limit is the whole process's and left alone.
    """
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True)
    try:
        for fields in reader:
            if fields:
                yield before + reader.line_num, fields
    except csv.Error as error:
        number = before + reader.line_num
        raise StepError(f"line {number} of the CSV cannot be read: {_reason(error)}") from error


def _reason(error: csv.Error) -> str:
    text = str(error)
    if "field limit" in text:
        return f"{text}. Is a quote missing?"
    if "new-line character" in text:
        return "a carriage return stands alone in it; lines end in a line feed"
    if "unexpected end of data" in text:
        return f"{text}, within quotes: it is cut off, or a quote is missing"
    return text


def columns_of(header: bool | list[str], found: Iterator[Record]) -> list[str]:
    """The columns' names, out of the first record where `header` is true; [] without a header."""
    if header is False:
        return []
    columns = [name.strip() for name in next(found, (0, []))[1]] if header is True else header
    if len(set(columns)) < len(columns):
        repeated = sorted({name for name in columns if columns.count(name) > 1})
        raise StepError(f"the CSV's header names a column twice: {', '.join(repeated)[:200]}")
    return columns


def require_fit(number: int, fields: list[str], columns: list[str]) -> None:
    """StepError unless a record has a field for each column."""
    if columns and len(fields) != len(columns):
        raise StepError(
            f"line {number} of the CSV has {len(fields)} fields, but there are {len(columns)} "
            f"columns ({', '.join(columns)[:200]})"
        )
