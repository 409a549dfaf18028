"""The terminal shows warnings once; the log files contain all lines."""

import datetime as dt
import io
from pathlib import Path

from honcho.printer import Message

from valkyr_project.up.output import Output


def line(text: str) -> Message:
    return Message("line", (text + "\n").encode(), dt.datetime.now(dt.UTC), "web", None)


def written(logs: Path, *lines: str) -> list[str]:
    """Return what the terminal shows of these lines."""
    terminal = io.StringIO()
    output = Output(logs, ["web"], terminal)
    for text in lines:
        output.write(line(text))
    output.close()
    return terminal.getvalue().splitlines()


def test_only_warnings_reach_the_terminal_and_all_lines_the_log(tmp_path: Path) -> None:
    shown = written(tmp_path, "12:00 INFO all is well", "12:01 WARNING the disk is nearly full")

    assert len(shown) == 1
    assert "nearly full" in shown[0]
    assert len((tmp_path / "web.log").read_text().splitlines()) == 2


def test_a_warning_that_only_differs_in_time_and_ids_is_shown_once(tmp_path: Path) -> None:
    repeated = [f"12:00:0{second} ERROR run 0192f3{second}a-77 is lost" for second in range(5)]

    assert len(written(tmp_path, *repeated, "12:00:05 ERROR something else")) == 2
