"""The terminal shows warnings once; the log files have everything."""

import datetime as dt
from pathlib import Path

import pytest
from honcho.printer import Message

from valkyr_project.up.output import Output


def line(text: str) -> Message:
    return Message("line", (text + "\n").encode(), dt.datetime.now(dt.UTC), "web", None)


@pytest.fixture
def output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Output:
    return Output(tmp_path, ["web"])


def test_only_warnings_reach_the_terminal_and_all_lines_the_log(
    output: Output, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output.write(line("12:00 INFO all is well"))
    output.write(line("12:01 WARNING the disk is nearly full"))
    output.close()

    assert "nearly full" in (shown := capsys.readouterr().out)
    assert "all is well" not in shown
    assert len((tmp_path / "web.log").read_text().splitlines()) == 2


def test_a_warning_that_only_differs_in_time_and_ids_is_shown_once(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    for second in range(5):
        output.write(line(f"12:00:0{second} ERROR run 0192f3{second}a-77 is lost"))
    output.write(line("12:00:05 ERROR something else"))
    output.close()

    assert len(capsys.readouterr().out.splitlines()) == 2
