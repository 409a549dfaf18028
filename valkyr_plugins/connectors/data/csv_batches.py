"""Cuts a CSV file into batches: byte ranges of whole records, found in one pass over the file.

The pass keeps a record at a time, so that it takes as much memory for a million rows as for ten.
A batch carries all that is needed to read its range alone, and the file's mark: what was cut up
must still be the same when it is read.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from runners.public.modules import ErrorType, ModuleInputs, StepContext, StepError
from valkyr_plugins.connectors.data.bounds import MAX_BYTES
from valkyr_plugins.connectors.data.csv_form import Encoding
from valkyr_plugins.connectors.data.csv_lines import FileLines
from valkyr_plugins.connectors.data.csv_records import Record, require_fit

MAX_BATCHES = 10_000
# Bytes of a batch, names of its columns included: it leaves room for what JSON adds.
MOST = MAX_BYTES // 2
BEAT = 50_000  # rows between two looks at the clock


class CsvBatch(ModuleInputs):
    """A range of a CSV file, as `batchSize` yields it."""

    path: str = Field(description="The file.")
    mark: str = Field(description="The file's size and time of change: it must still be the same.")
    start: int = Field(ge=0, description="Its first byte, counted from 0.")
    end: int = Field(ge=0, description="The byte after its last.")
    first_row: int = Field(ge=1, description="The number of its first row, counted from 1.")
    first_line: int = Field(ge=1, description="The number of its first line, counted from 1.")
    rows: int = Field(ge=0, description="How many rows it holds.")
    columns: list[str] = Field(description="The columns' names; none where rows are lists.")
    delimiter: str = Field(min_length=1, max_length=1, description="As the file was read.")
    quote: str = Field(min_length=1, max_length=1, description="As the file was read.")
    encoding: Encoding = Field(description="As the file was read.")


def cut(
    lines: FileLines,
    found: Iterator[Record],
    columns: list[str],
    size: int,
    ctx: StepContext,
) -> Iterator[dict[str, Any]]:
    """The ranges of at most `size` rows and `MOST` bytes each, in the file's order."""
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
    """What a row's JSON holds beside its values, in bytes."""
    return sum(len(name.encode()) + 6 for name in columns) + 2


def heed(ctx: StepContext, rows: int) -> None:
    """Say that the step is alive; end it with its time-out, where no signal can."""
    ctx.heartbeat({"rows": rows})
    if ctx.remaining() <= 0:
        raise StepError(f"the step's time was over after {rows:,} rows", ErrorType.TIMEOUT)


def require_few(batches: int) -> None:
    """StepError once there are more batches than a map should get."""
    if batches > MAX_BATCHES:
        raise StepError(f"the CSV makes more than {MAX_BATCHES:,} batches: raise batchSize")


def _range(start: int, end: int, before: int, rows: int, first_line: int) -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "firstRow": before + 1,
        "firstLine": first_line,
        "rows": rows,
    }
