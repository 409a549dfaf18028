"""How a CSV is written: what stands between and around fields, and in which bytes."""

import csv
from collections.abc import Iterable
from itertools import islice
from typing import Literal

from pydantic import Field, model_validator

from runners.public.modules import ModuleInputs

# In all of these the byte 0x0A is a line's end and nothing else, so that files can be cut there.
Encoding = Literal[
    "utf-8", "ascii", "latin-1", "iso8859-2", "iso8859-15", "cp1250", "cp1251", "cp1252", "cp1253",
    "cp1254", "cp1257", "cp437", "cp850", "koi8-r", "mac-roman", "shift_jis", "euc-jp", "gbk",
    "gb18030", "big5", "euc-kr",
]  # fmt: skip
AUTO = "auto"
DELIMITERS = (",", ";", "\t", "|")
SNIFFED_RECORDS = 20


class CsvForm(ModuleInputs):
    """The delimiter, the quote and the encoding."""

    delimiter: str = Field(
        ",",
        min_length=1,
        max_length=4,
        description=(
            "Stands between two fields: one character, or `auto`: the one of comma, semicolon, tab "
            "and bar that cuts the first lines into equally many fields, the most; else the comma."
        ),
        examples=[";"],
    )
    quote: str = Field('"', min_length=1, max_length=1, description="Stands around a field.")
    encoding: Encoding = Field(
        "utf-8",
        description="How a file's bytes are read; one that begins with UTF-8's mark is UTF-8.",
        examples=["cp1252"],
    )

    @model_validator(mode="after")
    def _goes_together(self) -> "CsvForm":
        if self.delimiter == AUTO:
            return self
        try:
            csv.reader((), delimiter=self.delimiter, quotechar=self.quote)
        except (TypeError, ValueError) as error:
            raise ValueError(f"delimiter and quote do not go together: {error}") from error
        if self.delimiter == self.quote or {self.delimiter, self.quote} & set("\r\n"):
            raise ValueError(
                "delimiter and quote do not go together: they must differ, and be no line end"
            )
        return self


def sniffed(lines: Iterable[str], quote: str) -> str:
    """The delimiter that cuts the first records into equally many fields, the most; or a comma."""
    seen = list(islice(lines, SNIFFED_RECORDS))
    widths = {delimiter: _width(seen, delimiter, quote) for delimiter in DELIMITERS}
    best = max(widths, key=lambda delimiter: widths[delimiter])
    return best if widths[best] > 1 else ","


def _width(lines: list[str], delimiter: str, quote: str) -> int:
    """How many fields each record has; 0 where they differ or cannot be read."""
    try:
        # Not strict: what was cut off after some lines may end within quotes.
        found = [len(row) for row in csv.reader(lines, delimiter=delimiter, quotechar=quote) if row]
    except csv.Error:
        return 0
    whole = found[:-1] if len(found) > 2 else found
    return whole[0] if whole and len(set(whole)) == 1 else 0
