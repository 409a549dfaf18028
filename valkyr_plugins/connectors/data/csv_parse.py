"""`data.csv_parse`: read rows from text, a file or a batch, or list a file's batches."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO

from pydantic import Field, model_validator

from runners.public.modules import (
    Bad,
    Module,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
    StoredContent,
)
from valkyr_plugins.connectors.data.bounds import MAX_BYTES, MAX_ROWS
from valkyr_plugins.connectors.data.csv_format import (
    AUTO,
    CsvBatch,
    CsvForm,
    FileLines,
    Record,
    columns_of,
    cut,
    heed,
    opened,
    opened_content,
    records,
    require_few,
    require_fit,
    row_overhead,
    sniffed,
    text_lines,
)


class CsvParseInputs(CsvForm):
    """The CSV text or file to parse, and its format."""

    text: str | None = Field(None, description="The CSV text.", examples=["id,total\n17,12.50\n"])
    path: str | None = Field(
        None, description="A CSV file below the files folder.", examples=["orders/2026.csv"]
    )
    stored: StoredContent | None = Field(
        None,
        description="Stored content, such as the body of `http.request` with `store`.",
        examples=["{{ tasks.download.output.body }}"],
    )
    batch: CsvBatch | None = Field(
        None,
        description=(
            "A batch that a step with `batchSize` returned, with the file's location and format."
        ),
        examples=["{{ item }}"],
    )
    batch_size: int | None = Field(
        None,
        ge=1,
        le=MAX_ROWS,
        description=(
            "With `path` or `stored`: return batches of at most this many rows instead of the rows "
            "themselves. `flow.map` passes each batch to this module. Long rows lead to "
            "smaller batches. The step fails if there are more than 10,000 batches; with "
            "`stored` or many columns, this limit is lower."
        ),
        examples=[10_000],
    )
    header: bool | list[str] = Field(
        True,
        description=(
            "true: the first line names the columns. false: rows become lists. "
            "A list: these are the columns' names, and every line is a row."
        ),
    )
    max_rows: int = Field(
        10_000,
        ge=1,
        le=MAX_ROWS,
        description="Without batches: if there are more rows than this, the step fails.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> "CsvParseInputs":
        sources = (self.text, self.path, self.stored, self.batch)
        if sum(source is not None for source in sources) != 1:
            raise ValueError("set exactly one of text, path, stored and batch")
        if self.batch_size is not None and self.path is None and self.stored is None:
            raise ValueError(
                "batchSize needs path or stored: only a file can be split into batches"
            )
        return self


class CsvParseOutputs(ModuleOutputs):
    """The rows or the batches, and the names of the columns."""

    rows: list[dict[str, str]] | list[list[str]] | None = Field(
        None,
        description=(
            "One object per row (a list if there is no header); all values are text. "
            "Absent with `batchSize`."
        ),
    )
    batches: list[dict[str, Any]] | None = Field(
        None,
        description=(
            "With `batchSize`: byte ranges of the file, each with `path` or `stored`, `start`, "
            "`end`, `firstRow` (counted from 1), `rows` and the format of the file."
        ),
    )
    columns: list[str] = Field(description="The columns' names, in order.")
    count: int = Field(description="The number of rows; with `batchSize`, in all batches together.")


class CsvParse(Module[CsvParseInputs]):
    """Reads CSV into rows. Empty lines are skipped; all values stay text.

    A step yields at most 5 MiB of rows. For a larger file, set `path` or `stored`, and `batchSize`:
    the step then returns batches. In a `flow.map` over the batches, a second `data.csv_parse` task
    reads each batch with `batch: "{{ item }}"`. The first step keeps only one row in memory. If the
    file changes before a batch is read, the step that reads the batch fails.
    """

    type = "data.csv_parse"
    title = "Parse CSV"
    category = "data"
    computes = True
    takes_secrets = False
    retry = "none"
    Inputs = CsvParseInputs
    Outputs = CsvParseOutputs
    example = {"path": "orders/{{ input.day }}.csv", "batchSize": 10_000, "delimiter": ";"}
    bad_inputs = (
        Bad("a line with too few fields", {"text": "a,b\n1\n"}, "line 2 of the CSV has 1 fields"),
        Bad("a column named twice", {"text": "a,a\n"}, "names a column twice: a"),
        Bad("a text that ends within quotes", {"text": 'a\n"1'}, "the text is cut off"),
        Bad("a field of 10 MiB", lambda: {"text": "a\n" + "x" * 10_485_760}, "at most 5,242,880"),
        Bad("a field of 200,000 characters", {"text": "a\n" + "x" * 200_000}, "field limit"),
        Bad("a quote that never closes", {"text": 'a\n"' + "x\n" * 100_000}, "Is a quote missing?"),
        Bad("more rows than allowed", {"text": "a\n1\n2\n", "maxRows": 1}, "more than 1 rows"),
        Bad("binary data", {"text": "a\n\x00\x01"}, "contains a NUL character"),
        Bad("a lone surrogate", {"text": "a\n\ud800"}, "lone surrogate (U+D800)"),
        Bad("a delimiter that is the quote", {"text": "a", "delimiter": '"'}, "are not compatible"),
        Bad("two sources", {"text": "a", "path": "b"}, "exactly one of text, path, stored"),
        Bad("a path outside of the files folder", {"path": "../a.csv"}, "below the files folder"),
    )

    def execute(self, inputs: CsvParseInputs, ctx: StepContext) -> Result:
        if inputs.batch is not None:
            return Result(_of_batch(inputs.batch, ctx))
        if inputs.path is None and inputs.stored is None:
            text = inputs.text or ""
            delimiter = _delimiter(inputs, text_lines(text))
            found = records(text_lines(text), delimiter, inputs.quote)
            return Result(_rows(inputs, found, columns_of(inputs.header, found), ctx))
        with _source(inputs.path, inputs.stored, ctx) as (file, mark):
            delimiter = _delimiter(inputs, FileLines(file, inputs.encoding))
            lines = FileLines(file, inputs.encoding)
            found = records(lines, delimiter, inputs.quote)
            columns = columns_of(inputs.header, found)
            if inputs.batch_size is None:
                return Result(_rows(inputs, found, columns, ctx))
            form = {
                **({"path": inputs.path} if inputs.path else {"stored": inputs.stored}),
                "mark": mark,
                "columns": columns,
                "delimiter": delimiter,
                "quote": inputs.quote,
                "encoding": lines.encoding,
            }
            ranges = cut(lines, found, columns, inputs.batch_size, ctx)
            return Result(_batches(ranges, form, columns))


def _source(
    path: str | None, stored: dict[str, Any] | None, ctx: StepContext
) -> AbstractContextManager[tuple[BinaryIO, str]]:
    return opened(path or "") if stored is None else opened_content(stored, ctx)


def _delimiter(inputs: CsvParseInputs, lines: Iterable[str]) -> str:
    return sniffed(lines, inputs.quote) if inputs.delimiter == AUTO else inputs.delimiter


def _batches(
    ranges: Iterator[dict[str, Any]], form: dict[str, Any], columns: list[str]
) -> dict[str, Any]:
    batches = []
    each = (300 if form.get("path") else 900) + row_overhead(columns)
    for range_ in ranges:
        batches.append({**form, **range_})
        require_few(len(batches))
        if len(batches) * each > MAX_BYTES:
            raise StepError(
                f"the CSV has {len(columns):,} columns, which is too many for its number of "
                "batches: raise batchSize"
            )
    count = sum(batch["rows"] for batch in batches)
    return {"batches": batches, "columns": columns, "count": count}


def _of_batch(batch: CsvBatch, ctx: StepContext) -> dict[str, Any]:
    """Return the rows of one batch. Raises StepError if the file has changed."""
    with _source(batch.path, batch.stored, ctx) as (file, mark):
        if mark != batch.mark:
            raise StepError(
                f"{batch.path!r} has changed since it was split into batches: split it again, "
                "and do not write to it in the meantime"
            )
        before = batch.first_line - 1
        lines = FileLines(file, batch.encoding, start=batch.start, end=batch.end, before=before)
        found = records(lines, batch.delimiter, batch.quote, before)
        whole = CsvParseInputs.model_construct(max_rows=MAX_ROWS)
        return _rows(whole, found, batch.columns, ctx)


def _rows(
    inputs: CsvParseInputs, found: Iterator[Record], columns: list[str], ctx: StepContext
) -> dict[str, Any]:
    rows: list[dict[str, str] | list[str]] = []
    names, size = row_overhead(columns), 0
    for number, fields in found:
        if len(rows) == inputs.max_rows:
            raise StepError(
                f"the CSV has more than {inputs.max_rows} rows: raise maxRows (at most "
                f"{MAX_ROWS}), or read it from a file in batches (path, batchSize)"
            )
        require_fit(number, fields, columns)
        size += names + sum(map(len, fields))
        if size > MAX_BYTES:
            raise StepError(
                f"the rows up to line {number} of the CSV are more than {MAX_BYTES:,} bytes of "
                "JSON: read it from a file in batches (path, batchSize)"
            )
        rows.append(dict(zip(columns, fields, strict=True)) if columns else fields)
        if len(rows) % 10_000 == 0:
            heed(ctx, len(rows))
    return {"rows": rows, "columns": columns, "count": len(rows)}
