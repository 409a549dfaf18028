"""Output for people and programs: tables on a terminal, plain text elsewhere, or JSON.

Results go to standard output, everything else to standard error. Rich is used if it is installed
and the output is a terminal.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import click

from valkyr.cli.errors import CliError
from valkyr.cli.options import Choices

Row = Mapping[str, Any]
# A column's heading, and either a key of the row or a function of the row.
Column = tuple[str, str | Callable[[Row], Any]]
# Characters in other users' text that could move the cursor or colour the terminal.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z\Z")
SHOWN_TIME = re.compile(r"(\d{4}-)(\d\d-\d\d \d\d:\d\d):\d\dZ\Z")
# Columns with sentences or lists, their minimum width, and the space between two columns, in
# characters.
PROSE, LEAST, GAP = frozenset({"REASON", "ERROR", "RESULT", "SCOPES"}), 24, 2
STYLES = {
    "SUCCESS": "green", "FAILED": "red", "DLQ": "red", "TIMEOUT": "red", "CANCELLED": "yellow",
    "RUNNING": "cyan", "PENDING": "dim", "WAITING": "magenta", "PAUSED": "yellow",
}  # fmt: skip

# The signs of a plan, and of its warnings and problems.
SIGNS = {"+": "green", "-": "red", "~": "yellow", "!": "magenta"}


class CommandOutput:
    """Prints results in the chosen format."""

    def __init__(self, choices: Choices) -> None:
        self.json, self.quiet = choices.json, choices.quiet

    @cached_property
    def console(self) -> Any:
        """Return Rich's console for standard output; None if Rich or a terminal is missing."""
        return _console(sys.stdout)

    def table(
        self,
        rows: Sequence[Row],
        columns: Sequence[Column],
        *,
        empty: str = "None.",
        more: bool = False,
        cut: bool = False,
    ) -> None:
        """Print rows, or the note `empty`; with `--quiet` only their IDs, one per line.

        On a terminal, long cells are wrapped or, with `cut`, truncated. If there are `more` rows, a
        note on standard error reports this in every format, so that readers do not mistake a part
        for the whole.
        """
        if self.json:
            self.value(list(rows))
        elif self.quiet:
            for row in rows:
                click.echo(row["id"])
        elif not rows:
            self.note(empty)
        else:
            texts = [[_text(_cell(row, source)) for _, source in columns] for row in rows]
            self._table([heading for heading, _ in columns], texts, cut)
        if more:
            click.echo(f"Only the first {len(rows):,} are shown; use --limit for more.", err=True)

    def record(self, row: Row, columns: Sequence[Column], *, key: str = "id") -> None:
        """Print one object: a line for each non-empty column, or with `--quiet`, only its `key`."""
        if self.json:
            self.value(row)
        elif self.quiet:
            click.echo(row[key])
        else:
            facts = [(heading, _text(_cell(row, source))) for heading, source in columns]
            width = max(len(heading) for heading, _ in facts) + 2
            for heading, text in facts:
                if text:
                    click.echo(f"{heading:<{width}}{text}")

    def value(self, value: Any) -> None:
        """Print a value as JSON, coloured on a terminal."""
        if self.console is not None:
            self.console.print_json(json.dumps(value), ensure_ascii=False)
        else:
            click.echo(json.dumps(value, indent=2, ensure_ascii=False))

    def line(self, value: Any) -> None:
        """Print a value as one line of JSON."""
        click.echo(json.dumps(value, ensure_ascii=False))

    def text(self, text: str) -> None:
        """Print text unchanged, except for control characters."""
        click.echo(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), nl=not text.endswith("\n"))

    def signed(self, sign: str, text: str, *, indent: int = 0) -> None:
        """Print a line of a plan after its sign, which is coloured on a terminal."""
        clean = CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
        coloured = self.console is not None and "NO_COLOR" not in os.environ
        shown = click.style(sign, fg=SIGNS.get(sign), bold=True) if coloured else sign
        click.echo(f"{' ' * indent}{shown} {clean}")

    def note(self, text: str) -> None:
        """Print a note on standard error, unless `--quiet` or `--json` is set."""
        if not (self.quiet or self.json):
            click.echo(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), err=True)

    def warn(self, text: str) -> None:
        """Print a warning on standard error, even with `--quiet`."""
        if not self.json:
            click.echo(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), err=True)

    def progress(self, text: str) -> AbstractContextManager[Any]:
        """Return a context manager that shows a status line during a long operation.

        It yields an object whose `update` changes the line, or None without Rich or a terminal, or
        with `--quiet` or `--json`.
        """
        console = None if self.quiet or self.json else _console(sys.stderr)
        return nullcontext() if console is None else console.status(text)

    def error(self, error: CliError) -> None:
        """Print the error that ends the command."""
        click.echo(self.error_text(error), err=True, nl=False)

    def error_text(self, error: CliError) -> str:
        """Return the text of the error in the chosen format, with a final line break."""
        if self.json:
            return json.dumps({"error": error.as_json()}, ensure_ascii=False) + "\n"
        lines = [f"Error: {error.message}"]
        lines += [
            f"  {found.get('path') or '.'}: {found.get('message')}" for found in error.problems
        ]
        lines += [error.hint] if error.hint else []
        return CONTROL.sub("\N{REPLACEMENT CHARACTER}", "\n".join(lines)) + "\n"

    def _table(self, headings: Sequence[str], rows: Sequence[Sequence[str]], cut: bool) -> None:
        if self.console is None:
            for line in aligned([headings, *rows]):
                click.echo(line)
            return
        from rich import box
        from rich.cells import cell_len
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        rows, widths = fitted(headings, rows, self.console.width, cell_len)
        made = Table(
            box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), show_edge=False
        )
        for heading, width in zip(headings, widths, strict=True):
            free = heading in PROSE and not cut
            made.add_column(heading, width=width, no_wrap=not free, overflow="ellipsis")
        for row in rows:
            made.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
        # Other columns are not narrowed, because users copy IDs from them. If the terminal is too
        # narrow, it wraps the lines.
        whole = max(self.console.width, sum(widths) + GAP * len(widths))
        Console(file=sys.stdout, highlight=False, width=whole).print(made)


def fitted(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    measure: Callable[[str], int] = len,
) -> tuple[Sequence[Sequence[str]], list[int]]:
    """Return cells and column widths for a terminal of `width`; shorten times if necessary."""
    widths = _widths([headings, *rows], measure)
    if sum(widths) + GAP * len(widths) > width:
        rows = [[_shortened(cell) for cell in row] for row in rows]
        widths = _widths([headings, *rows], measure)
    prose = [n for n, heading in enumerate(headings) if heading in PROSE]
    for n in prose:
        left = (width - sum(widths) - GAP * len(widths) + widths[n]) if len(prose) == 1 else 0
        widths[n] = min(widths[n], max(left, LEAST))
    return rows, widths


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines of text with aligned columns."""
    widths = _widths(rows)
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]


def _widths(rows: Sequence[Sequence[str]], measure: Callable[[str], int] = len) -> list[int]:
    return [max(measure(row[n]) for row in rows) for n in range(len(rows[0]))]


def _shortened(cell: str) -> str:
    """Shorten a time: omit the seconds and the current year. Return any other text unchanged."""
    found = SHOWN_TIME.match(cell)
    if not found:
        return cell
    year = "" if found[1] == f"{datetime.now(UTC).year}-" else found[1]
    return f"{year}{found[2]}Z"


def _console(stream: Any) -> Any:
    if not stream.isatty() or os.environ.get("TERM") == "dumb" or find_spec("rich") is None:
        return None
    from rich.console import Console

    return Console(file=stream, highlight=False)


def _cell(row: Row, source: str | Callable[[Row], Any]) -> Any:
    return row.get(source) if isinstance(source, str) else source(row)


def _text(value: Any) -> str:
    """Return a value as text on one line; a time has no fractions of a second."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if found := TIME.match(text):
        return f"{found[1]} {found[2]}Z"
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
