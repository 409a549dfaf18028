"""`data.csv_write`: write rows as CSV, into a text or a file."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from runners.public.modules import Bad, Module, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.data.bounds import MAX_BYTES, MAX_ROWS, checked_text
from valkyr_plugins.connectors.data.csv_format import AUTO, CsvForm, written

# Convert a value to a cell of a CSV, and prevent spreadsheet formulas.

Formulas = Literal["escape", "keep", "refuse"]
# The last four are full-width forms of the first. A tab or line end may hide a formula after it.
BEGINNING = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?\d[\d .,]*(?:[eE][+-]?\d+)?%?")


def cell(value: Any, formulas: Formulas) -> str:
    """Return a cell's text: "" for null, `guarded` for a string, else JSON. Raises StepError."""
    if isinstance(value, str):
        return guarded(value, formulas)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StepError(
            f"a value is not JSON, so it cannot be written to a CSV: {error}"
        ) from error


def guarded(text: str, formulas: Formulas) -> str:
    """Return the text; for a formula, escape it, keep it or raise StepError, as `formulas` says."""
    if formulas == "keep" or not text.startswith(BEGINNING) or NUMBER.fullmatch(text):
        return text
    if formulas == "refuse":
        raise StepError(
            f"a cell begins with {text[0]!r}, which a spreadsheet runs as a formula: remove the "
            "value, or escape formulas"
        )
    return f"'{text}"


LINE_ENDS = {"crlf": "\r\n", "lf": "\n"}


class CsvWriteInputs(CsvForm):
    """The rows to write, and the format of the CSV."""

    rows: list[dict[str, Any]] | list[list[Any]] = Field(
        max_length=MAX_ROWS,
        description="Objects, or lists of values. Null becomes an empty cell; nested lists and "
        "objects become JSON.",
        examples=["{{ tasks.totals.output.groups }}"],
    )
    columns: list[str] | None = Field(
        None,
        description=(
            "For objects: the keys to write, in this order; by default, all keys. For lists: the "
            "names of the columns. The database does not keep the order of keys, so "
            "name the columns if their order matters."
        ),
        examples=[["country", "total"]],
    )
    header: bool = Field(True, description="Whether the first line names the columns.")
    formulas: Formulas = Field(
        "escape",
        description=(
            "How to write a text that a spreadsheet could run as a formula: one that begins with "
            "=, +, -, @ (also full-width), a tab or a line break, and is not a number. escape: "
            "with an apostrophe before it. keep: unchanged, for programs. refuse: the step fails."
        ),
    )
    quote_all: bool = Field(
        False, description="Whether to quote every field, not only those that need quotes."
    )
    line_end: Literal["crlf", "lf"] = Field(
        "crlf", description="crlf: as in RFC 4180 and spreadsheets. lf: as on Unix."
    )
    byte_order_mark: bool = Field(
        False,
        description="Whether to begin with the byte order mark by which Excel recognises UTF-8.",
    )
    path: str | None = Field(
        None,
        description="A file below the files folder. Without `path`, the output is text.",
        examples=["reports/{{ execution.id }}.csv"],
    )

    @model_validator(mode="after")
    def _can_be_written(self) -> "CsvWriteInputs":
        if self.delimiter == AUTO:
            raise ValueError("delimiter: auto works only for reading; set the delimiter")
        if self.path is None and self.encoding != "utf-8":
            raise ValueError("encoding needs path: only a file has an encoding")
        if self.byte_order_mark and self.encoding != "utf-8":
            raise ValueError("byteOrderMark works only with the encoding utf-8")
        return self


class CsvWriteOutputs(ModuleOutputs):
    """The CSV as text, or the path of the written file."""

    text: str | None = Field(None, description="The CSV text; absent with `path`.")
    path: str | None = Field(None, description="The path of the file; only with `path`.")
    bytes: int = Field(description="The size in bytes.")
    columns: list[str] = Field(description="The columns' names, in order.")
    count: int = Field(description="The number of rows, without the header.")


class CsvWrite(Module[CsvWriteInputs]):
    """Writes rows as CSV, either as text or into a file below the files folder.

    Texts that a spreadsheet would run as formulas get a leading apostrophe, unless `formulas` says
    otherwise. A file is replaced atomically: readers see either the old or the new file.
    """

    type = "data.csv_write"
    title = "Write CSV"
    category = "data"
    computes = True
    effect = "idempotent"
    takes_secrets = False
    retry = "none"
    Inputs = CsvWriteInputs
    Outputs = CsvWriteOutputs
    example = {
        "rows": "{{ tasks.totals.output.groups }}",
        "columns": ["country", "total"],
        "path": "reports/{{ input.day }}.csv",
    }
    bad_inputs = (
        Bad("rows that are not rows", {"rows": ["a", "b"]}, "rows"),
        Bad(
            "a list longer than the columns",
            {"rows": [["a", "b"]], "columns": ["x"]},
            "row 1 has 2 values, but there are 1 columns",
        ),
        Bad("a lone surrogate", {"rows": [{"a": "\ud800"}]}, "lone surrogate (U+D800)"),
        Bad(
            "a field of 10 MiB",
            lambda: {"rows": [{"a": "x" * 10_485_760}]},
            "more than 5,242,880 bytes",
        ),
        Bad(
            "a formula that is refused",
            {"rows": [{"a": "=HYPERLINK(1)"}], "formulas": "refuse"},
            "which a spreadsheet runs as a formula",
        ),
        Bad(
            "a delimiter that is the quote",
            {"rows": [], "delimiter": '"'},
            "are not compatible",
        ),
        Bad(
            "a character that the encoding lacks",
            {"rows": [{"a": "日"}], "path": "a.csv", "encoding": "cp1252"},
            "cp1252 cannot represent '日' (U+65E5)",
        ),
        Bad("a path outside of the files folder", {"rows": [], "path": "../a"}, "below the files"),
    )

    def execute(self, inputs: CsvWriteInputs, ctx: StepContext) -> Result:
        columns = _columns(inputs)
        text = _text(inputs, columns)
        facts = {"columns": columns, "count": len(inputs.rows)}
        if inputs.path is None:
            size = len(checked_text(text, "the CSV").encode())
            return Result({"text": text, "bytes": size, **facts})
        data = _encoded(text, inputs.encoding)
        written(inputs.path, data)
        return Result({"path": inputs.path, "bytes": len(data), **facts})


def _columns(inputs: CsvWriteInputs) -> list[str]:
    if inputs.columns is not None:
        return inputs.columns
    return list(dict.fromkeys(key for row in inputs.rows if isinstance(row, dict) for key in row))


def _text(inputs: CsvWriteInputs, columns: list[str]) -> str:
    text = io.StringIO(newline="")
    if inputs.byte_order_mark:
        text.write("\ufeff")
    writer = csv.writer(
        text,
        delimiter=inputs.delimiter,
        quotechar=inputs.quote,
        quoting=csv.QUOTE_ALL if inputs.quote_all else csv.QUOTE_MINIMAL,
        lineterminator=LINE_ENDS[inputs.line_end],
    )
    if inputs.header and columns:
        writer.writerow([guarded(name, inputs.formulas) for name in columns])
    for values in _values(inputs.rows, columns):
        writer.writerow([cell(value, inputs.formulas) for value in values])
        if text.tell() > MAX_BYTES:
            raise StepError(
                f"the CSV is more than {MAX_BYTES:,} bytes long: write its rows in several files"
            )
    return text.getvalue()


def _values(rows: Iterable[Any], columns: list[str]) -> Iterator[list[Any]]:
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            yield [row.get(name) for name in columns]
        elif columns and len(row) != len(columns):
            raise StepError(
                f"row {number} has {len(row)} values, but there are {len(columns)} columns"
            )
        else:
            yield row


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        letter = text[error.start]
        shown = f"{letter!r} (U+{ord(letter):04X})"
        raise StepError(
            f"the encoding {encoding} cannot represent {shown}: write the file in utf-8, or "
            "replace the character first"
        ) from error
