"""A CSV's lines: of a text, or of a file's bytes, with the place of each."""

import io
from collections.abc import Iterator
from typing import BinaryIO

from runners.public.modules import StepError
from valkyr_plugins.connectors.data.bounds import checked_text, without_nul

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MAX_LINE = 1024 * 1024  # bytes


def text_lines(text: str) -> Iterator[str]:
    """The lines of a text, their ends as they are; the mark at its beginning is left out."""
    without_nul(checked_text(text, "the CSV"), "the CSV")
    return iter(io.StringIO(text.removeprefix("\ufeff"), newline=""))


class FileLines:
    """The decoded lines of a file from a byte on, perhaps up to another, read one by one.

    `offset` is the place of the next line, in bytes from the file's beginning; `number` counts the
    lines that were given, and those before the first. Raises StepError for what is no text.
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
            raise StepError("the CSV is in UTF-16, which is not read: save it as UTF-8")
        if beginning == UTF8_MARK:
            self.offset, self.encoding = len(UTF8_MARK), "utf-8"
        self._file.seek(self.offset)

    def _decoded(self, line: bytes) -> str:
        place = line.find(b"\0")
        if place >= 0:
            raise StepError(
                f"line {self.number} of the CSV holds a NUL byte (byte "
                f"{self.offset + place:,} of the file): it is binary data or UTF-16, not text"
            )
        try:
            return line.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise StepError(
                f"line {self.number} of the CSV is not {self.encoding}: the byte "
                f"0x{line[error.start]:02X} at {self.offset + error.start:,} does not fit. Name "
                "the file's own encoding, such as cp1252"
            ) from error
