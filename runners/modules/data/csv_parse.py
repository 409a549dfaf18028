"""`data.csv_parse`: text becomes rows, or the step fails naming the line that does not fit.

Values stay text: a postal code of 01067 must not become a number on the way.
"""

import csv
import io
from collections.abc import Iterator

from pydantic import Field

from runners.modules.base import Module, ModuleInputs, ModuleOutputs, Result, StepContext, StepError

MAX_ROWS = 100_000
BYTE_ORDER_MARK = "\ufeff"


class CsvParseInputs(ModuleInputs):
    """What to read, and how it is written."""

    text: str = Field(description="The CSV text.", examples=["id,total\n17,12.50\n"])
    header: bool | list[str] = Field(
        True,
        description=(
            "true: the first line names the columns. false: rows become lists. "
            "A list: these are the columns' names, and every line is a row."
        ),
    )
    delimiter: str = Field(
        ",", min_length=1, max_length=1, description="Stands between two fields.", examples=[";"]
    )
    quote: str = Field('"', min_length=1, max_length=1, description="Stands around a field.")
    max_rows: int = Field(
        10_000, ge=1, le=MAX_ROWS, description="More rows than this fail the step."
    )


class CsvParseOutputs(ModuleOutputs):
    """What was read."""

    rows: list[dict[str, str]] | list[list[str]] = Field(
        description="One object a row (a list where there is no header); all values are text."
    )
    columns: list[str] = Field(description="The columns' names, in order.")
    count: int = Field(description="How many rows.")


class CsvParse(Module[CsvParseInputs]):
    """Reads CSV text into rows. Empty lines are left out; all values stay text."""

    type = "data.csv_parse"
    title = "Parse CSV"
    category = "data"
    takes_secrets = False
    retry = "none"
    Inputs = CsvParseInputs
    Outputs = CsvParseOutputs

    def execute(self, inputs: CsvParseInputs, ctx: StepContext) -> Result:
        lines = _lines(inputs)
        columns = _columns(inputs, lines)
        found: list[dict[str, str] | list[str]] = []
        for number, fields in lines:
            if len(found) == inputs.max_rows:
                raise StepError(
                    f"the CSV has more than {inputs.max_rows} rows: raise maxRows (at most "
                    f"{MAX_ROWS}) or split it"
                )
            found.append(_row(number, fields, columns) if columns else fields)
        return Result({"rows": found, "columns": columns, "count": len(found)})


def _lines(inputs: CsvParseInputs) -> Iterator[tuple[int, list[str]]]:
    """The lines that hold anything, each with its number in the text."""
    text = inputs.text.removeprefix(BYTE_ORDER_MARK)
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=inputs.delimiter,
            quotechar=inputs.quote,
            strict=True,
        )
    except (TypeError, ValueError) as error:
        raise StepError(f"delimiter and quote do not go together: {error}") from error
    try:
        for fields in reader:
            if fields:
                yield reader.line_num, fields
    except csv.Error as error:
        raise StepError(f"line {reader.line_num} of the CSV cannot be read: {error}") from error


def _columns(inputs: CsvParseInputs, lines: Iterator[tuple[int, list[str]]]) -> list[str]:
    if inputs.header is False:
        return []
    if inputs.header is True:
        columns = [name.strip() for name in next(lines, (0, []))[1]]
    else:
        columns = inputs.header
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if repeated:
        raise StepError(f"the CSV's header names a column twice: {', '.join(repeated)}")
    return columns


def _row(number: int, fields: list[str], columns: list[str]) -> dict[str, str]:
    if len(fields) != len(columns):
        raise StepError(
            f"line {number} of the CSV has {len(fields)} fields, but there are {len(columns)} "
            f"columns ({', '.join(columns)[:200]})"
        )
    return dict(zip(columns, fields, strict=True))
