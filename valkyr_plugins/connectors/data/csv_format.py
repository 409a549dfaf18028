"""The delimiters and encodings of CSV, and functions that read, write and split CSV files."""

import csv
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO, Literal

from pydantic import Field, model_validator

from runners.public.modules import (
    ErrorType,
    ModuleInputs,
    StepContext,
    StepError,
    StoredContent,
)
from valkyr_plugins.connectors.data.bounds import MAX_BYTES, checked_text, without_nul

# In all these encodings, the byte 0x0A is always a line's end, so that files can be split there.
Encoding = Literal[
    "utf-8", "ascii", "latin-1", "iso8859-2", "iso8859-15", "cp1250", "cp1251", "cp1252", "cp1253",
    "cp1254", "cp1257", "cp437", "cp850", "koi8-r", "mac-roman", "shift_jis", "euc-jp", "gbk",
    "gb18030", "big5", "euc-kr",
]  # fmt: skip
AUTO = "auto"
DELIMITERS = (",", ";", "\t", "|")
SNIFFED_RECORDS = 20


class CsvForm(ModuleInputs):
    """The delimiter, the quote character and the encoding."""

    delimiter: str = Field(
        ",",
        min_length=1,
        max_length=4,
        description=(
            "The character between two fields. When reading, `auto` tests the comma, semicolon, "
            "tab and vertical bar on the first 20 lines. It selects the character that splits each "
            "line into the same number of fields. If several do, it selects the one that yields "
            "the most fields; if none does, the comma."
        ),
        examples=[";"],
    )
    quote: str = Field(
        '"', min_length=1, max_length=1, description="The quotation mark around a field."
    )
    encoding: Encoding = Field(
        "utf-8",
        description="The encoding of a file that is read or written; a file that begins with the "
        "UTF-8 byte order mark is read as UTF-8.",
        examples=["cp1252"],
    )

    @model_validator(mode="after")
    def _goes_together(self) -> "CsvForm":
        if self.delimiter == AUTO:
            return self
        try:
            csv.reader((), delimiter=self.delimiter, quotechar=self.quote)
        except (TypeError, ValueError) as error:
            raise ValueError(f"delimiter and quote are not compatible: {error}") from error
        if self.delimiter == self.quote or {self.delimiter, self.quote} & set("\r\n"):
            raise ValueError(
                "delimiter and quote are not compatible: they must differ, and must not be a "
                "line end"
            )
        return self


def sniffed(lines: Iterable[str], quote: str) -> str:
    """Return the delimiter that splits the records in the first 20 lines into equally many fields.

    If several delimiters do, return the one that yields the most fields. Return a comma if none
    does, or if no delimiter separates any fields.
    """
    seen = list(islice(lines, SNIFFED_RECORDS))
    widths = {delimiter: _width(seen, delimiter, quote) for delimiter in DELIMITERS}
    best = max(widths, key=lambda delimiter: widths[delimiter])
    return best if widths[best] > 1 else ","


def _width(lines: list[str], delimiter: str, quote: str) -> int:
    """Return the number of fields per complete record; 0 if it varies or cannot be read."""
    try:
        # Without `strict`, because the sample may end inside a quoted field.
        found = [len(row) for row in csv.reader(lines, delimiter=delimiter, quotechar=quote) if row]
    except csv.Error:
        return 0
    whole = found[:-1] if len(found) > 2 else found
    return whole[0] if whole and len(set(whole)) == 1 else 0


# The CSV modules open files only here: below the files folder, once per pass.


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file; yield it with a mark of its size and modification time. Raises StepError.

    If another process replaces the file, the open file still has the old content.
    """
    from valkyr_plugins.connectors.files.root import folder_of, open_file

    with folder_of(path, create=False) as (folder, name):
        handle = open_file(folder, name, path, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        yield file, f"{status.st_size}-{status.st_mtime_ns}"


@contextmanager
def opened_content(reference: dict[str, Any], ctx: StepContext) -> Iterator[tuple[BinaryIO, str]]:
    """Open a stored value; yield it as a file, with its digest."""
    with ctx.open_content(reference) as file:
        yield file, reference["digest"]


def written(path: str, data: bytes) -> None:
    """Replace a file atomically: readers see the old content or the new. Raises StepError."""
    from valkyr_plugins.connectors.files.root import folder_of, replace

    with folder_of(path, create=True) as (folder, name):
        replace(folder, name, path, [data])


# Read the lines of a CSV, from a text or from a file's bytes, with the position of each line.


UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MAX_LINE = 1024 * 1024  # in bytes


def text_lines(text: str) -> Iterator[str]:
    """Return a text's lines with line endings, without the byte order mark. Raises StepError."""
    without_nul(checked_text(text, "the CSV"), "the CSV")
    return iter(io.StringIO(text.removeprefix("\ufeff"), newline=""))


class FileLines:
    """Yields the decoded lines of a file between two byte offsets, or from an offset to the end.

    `offset` is the byte offset of the next line, and `number` is the number of the last line read.
    Raises StepError for invalid text and for lines of more than 1 MiB.
    """

    def __init__(
        self,
        file: BinaryIO,
        encoding: str,
        *,
        start: int = 0,
        end: int | None = None,
        before: int = 0,
    ) -> None:
        self._file = file
        self._end = end
        self.encoding = encoding
        self.offset = start
        self.number = before
        file.seek(start)
        if start == 0:
            self._skip_mark()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._end is not None and self.offset >= self._end:
            raise StopIteration
        line = self._file.readline(MAX_LINE + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) > MAX_LINE:
            raise StepError(
                f"line {self.number} of the CSV is longer than {MAX_LINE:,} bytes: its lines must "
                "end in a line feed"
            )
        text = self._decoded(line)
        self.offset += len(line)
        return text

    def _skip_mark(self) -> None:
        beginning = self._file.read(len(UTF8_MARK))
        if beginning.startswith(UTF16_MARKS):
            raise StepError("the CSV is in UTF-16, which is not supported: save it as UTF-8")
        if beginning == UTF8_MARK:
            self.offset, self.encoding = len(UTF8_MARK), "utf-8"
        self._file.seek(self.offset)

    def _decoded(self, line: bytes) -> str:
        place = line.find(b"\0")
        if place >= 0:
            raise StepError(
                f"line {self.number} of the CSV contains a NUL byte (byte "
                f"{self.offset + place:,} of the file): it is binary data or UTF-16, not text"
            )
        try:
            return line.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise StepError(
                f"line {self.number} of the CSV is not {self.encoding}: the byte "
                f"0x{line[error.start]:02X} at {self.offset + error.start:,} does not fit. "
                "Set the file's encoding, such as cp1252"
            ) from error


# Read the records of a CSV: split and count fields, or raise a StepError that names a wrong line.
#
# Values remain text, because a postal code such as 01067 must not become a number.


Record = tuple[int, list[str]]


def records(lines: Iterable[str], delimiter: str, quote: str, before: int = 0) -> Iterator[Record]:
    """Yield the non-empty records, each with the number of its last line. Raises StepError.

    `before` is the number of lines in the file before `lines`. A field has at most
    `csv.field_size_limit()` characters (131,072), a limit of the whole process.
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
        return "it contains a lone carriage return; lines must end in a line feed"
    if "unexpected end of data" in text:
        return f"{text}, within quotes: the text is cut off, or a quote is missing"
    return text


def columns_of(header: bool | list[str], found: Iterator[Record]) -> list[str]:
    """Return the column names, from the first record or `header`; [] if `header` is false.

    With `header` true and no records, return []. Raises StepError for a repeated name.
    """
    if header is False:
        return []
    columns = [name.strip() for name in next(found, (0, []))[1]] if header is True else header
    if len(set(columns)) < len(columns):
        repeated = sorted({name for name in columns if columns.count(name) > 1})
        raise StepError(f"the CSV's header names a column twice: {', '.join(repeated)[:200]}")
    return columns


def require_fit(number: int, fields: list[str], columns: list[str]) -> None:
    """Raise StepError unless the record has one field per column, or `columns` is empty."""
    if columns and len(fields) != len(columns):
        raise StepError(
            f"line {number} of the CSV has {len(fields)} fields, but there are {len(columns)} "
            f"columns ({', '.join(columns)[:200]})"
        )


# Split a CSV file into batches: byte ranges of whole records, found in one pass over the file.
#
# The pass holds one record at a time, so it needs as much memory for a million rows as for ten. A
# batch contains everything that is needed to read its range alone, including a mark of the file's
# state: the file must be unchanged when the range is read.


MAX_BATCHES = 10_000
# Maximum bytes of a batch, including its columns' names. This leaves room for JSON's syntax.
MOST = MAX_BYTES // 2
BEAT = 50_000  # rows between two checks of the time


class CsvBatch(ModuleInputs):
    """A range of a CSV file, as a step with `batchSize` returns it."""

    path: str | None = Field(None, description="The file, if it is one.")
    stored: StoredContent | None = Field(None, description="The stored content, if it is one.")
    mark: str = Field(
        description="The file's size and modification time, which must not have changed; or the "
        "content's digest."
    )
    start: int = Field(ge=0, description="Its first byte, counted from 0.")
    end: int = Field(ge=0, description="The byte after its last.")
    first_row: int = Field(ge=1, description="The number of its first row, counted from 1.")
    first_line: int = Field(ge=1, description="The number of its first line, counted from 1.")
    rows: int = Field(ge=0, description="Number of rows.")
    columns: list[str] = Field(description="The columns' names; empty if rows are lists.")
    delimiter: str = Field(min_length=1, max_length=1, description="As for the whole file.")
    quote: str = Field(min_length=1, max_length=1, description="As for the whole file.")
    encoding: Encoding = Field(description="As for the whole file.")


def cut(
    lines: FileLines,
    found: Iterator[Record],
    columns: list[str],
    size: int,
    ctx: StepContext,
) -> Iterator[dict[str, Any]]:
    """Yield byte ranges, each with at most `size` rows and about MOST bytes. Raises StepError."""
    names = row_overhead(columns)
    start, first_line, rows, before = lines.offset, lines.number + 1, 0, 0
    for number, fields in found:
        require_fit(number, fields, columns)
        rows += 1
        if rows == size or lines.offset - start + rows * names >= MOST:
            yield _range(start, lines.offset, before, rows, first_line)
            start, first_line, before, rows = lines.offset, lines.number + 1, before + rows, 0
        if (before + rows) % BEAT == 0:
            heed(ctx, before + rows)
    if rows:
        yield _range(start, lines.offset, before, rows, first_line)


def row_overhead(columns: list[str]) -> int:
    """Return the size of a row's JSON without its values, in bytes."""
    return sum(len(name.encode()) + 6 for name in columns) + 2


def heed(ctx: StepContext, rows: int) -> None:
    """Send a heartbeat with the number of rows. Raises StepError after the step's timeout."""
    ctx.heartbeat({"rows": rows})
    if ctx.remaining() <= 0:
        raise StepError(f"the step's timeout passed after {rows:,} rows", ErrorType.TIMEOUT)


def require_few(batches: int) -> None:
    """Raise StepError if there are more batches than a `flow.map` should process."""
    if batches > MAX_BATCHES:
        raise StepError(f"the CSV has more than {MAX_BATCHES:,} batches: raise batchSize")


def _range(start: int, end: int, before: int, rows: int, first_line: int) -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "firstRow": before + 1,
        "firstLine": first_line,
        "rows": rows,
    }
