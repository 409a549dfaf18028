"""The report: its row, its position in a file, and the command that repeats a fault."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos import report
from tests.chaos.options import parse
from tests.chaos.outcome import Outcome, all_kept, from_json


def outcome() -> Outcome:
    return Outcome(
        "killed",
        "`kill -9` of a child",
        "taken over in under 2 s",
        2,
        injected=Counter({"kill -9": 3}),
        accepted=10,
        ended=Counter({"SUCCESS": 9, "FAILED": 1}),
        recoveries=[0.5, 1.0, 1.5],
    )


def test_a_row_holds_what_was_done_and_how_fast_it_was_mended() -> None:
    cells = report.cells(outcome())
    assert len(cells) == len(report.HEADS)
    assert cells[:4] == ["`kill -9` of a child", "3 kill -9", "10", "1 FAILED, 9 SUCCESS"]
    assert "1.0 / 1.5 / 1.5 / 1.5 s" in cells


def test_a_fault_that_was_not_run_says_so_and_is_not_passed() -> None:
    left_out = replace(outcome(), verdict="not run", reason="needs faketime: apt-get install it")
    cells = report.cells(left_out)
    assert len(cells) == len(report.HEADS)
    assert "not run: needs faketime: apt-get install it" in cells
    assert "kept" not in cells
    assert len(report.shown_cells(left_out)) == len(report.SHOWN)


def test_a_broken_promise_is_told_with_its_logs_and_what_repeats_it() -> None:
    broken = outcome()
    broken.broken("run 7 did its effect twice")
    broken.logs = "test-artifacts/chaos/killed-5"
    options = parse(["--seed", "5", "--broker", "rabbitmq", "--quick"])
    text = report.as_text([broken], {}, options)
    assert "run 7 did its effect twice" in text
    assert "logs: test-artifacts/chaos/killed-5" in text
    assert 'make chaos ARGS="--only killed --seed 5 --broker rabbitmq --quick"' in text
    assert not all_kept([outcome(), broken])


def test_figures_survive_the_way_through_a_file() -> None:
    [found] = json.loads(report.as_json([outcome()], {}))["faults"]
    assert from_json(found) == outcome()


def test_the_report_replaces_what_stands_between_the_markers(tmp_path: Path) -> None:
    file = tmp_path / "reliability.md"
    file.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.write(file, [outcome()], {"seed": "5"})
    text = file.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "- seed: `5`" in text
    assert "| `kill -9` of a child | 3 | 1 FAILED, 9 SUCCESS | 0 | 1.5 / 1.5 s |" in text


def test_the_page_has_one_line_for_the_figures_of_a_fault() -> None:
    told = outcome()
    told.figures["accepted while it was away"] = 35
    told.figures["packets lost"] = 7
    told.broken("run 7 did its effect twice")
    text = report.as_markdown([told], {})
    assert "- `killed`: accepted while it was away: 35; run 7 did its effect twice" in text


def test_a_file_without_markers_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.md"
    file.write_text("text")
    with pytest.raises(ValueError, match="lacks the lines"):
        report.write(file, [outcome()], {})
    assert file.read_text() == "text"
