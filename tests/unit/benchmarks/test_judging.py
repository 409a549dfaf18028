"""Targets, tenths, and the page's tables."""

import re

import pytest

from tests.benchmarks import label_lists
from tests.benchmarks.options import EVERYTHING, LABEL_LISTS, WORKLOADS, parse
from tests.benchmarks.page import TABLES, rewritten
from tests.benchmarks.programs import PROJECT
from tests.benchmarks.saved import Saved
from tests.benchmarks.targets import judged
from tests.benchmarks.tenths import Clock, spread, tenths
from tests.benchmarks.ticks import longest_of

SHIPPED = ("shipped-chain", "shipped-fan", "shipped-single", "shipped-http", "shipped-full")
PAGE = PROJECT / "docs" / "explanation" / "performance.md"


def test_a_target_says_by_how_much_it_was_missed() -> None:
    met, missed, over = judged({"W1e.ratio": 3.0, "W1p.ratio": 6.0, "crowd.tick": 1_500.0})

    assert (met.measured, met.wanted, met.verdict) == ("3 x", ">= 3 x", "met")
    assert missed.verdict == "MISSED by 25%"
    assert over.verdict == "MISSED by 50%"


def test_what_was_not_measured_is_not_judged() -> None:
    assert judged({}) == []


def test_a_backlog_is_divided_into_ten_parts_with_a_rate_and_a_cpu_each() -> None:
    ends = [float(n) for n in range(100)]  # one a second
    clock = Clock(0, 0, 0, at=[0.0, 50.0, 100.0], read=[(0, 0, 0), (5, 0, 0), (15, 0, 0)])

    found = tenths(ends, clock)

    assert found.rates == pytest.approx([1.0] * 10)
    assert found.cpu_ms[:5] == pytest.approx([100.0] * 5)
    assert found.cpu_ms[5:] == pytest.approx([200.0] * 5, rel=0.06)
    assert spread(found.cpu_ms) == pytest.approx(1 / 3, rel=0.1)


def test_the_longest_tick_of_each_duty_is_told_the_longest_first() -> None:
    assert longest_of(["due 1.5", "lost 20.0", "due 3.0"]) == {"lost": 20.0, "due": 3.0}


def test_a_page_gets_the_tables_of_what_was_measured_and_keeps_the_rest() -> None:
    run = Saved({}, "", "", {}, 1.0, {"W3.recorded.p50": 8.64, "W3.recorded.p99": 12.2})
    text = (
        "Before.\n<!-- bench: latencies -->\nold\n<!-- /bench -->\n"
        "<!-- bench: idle -->\nkept\n<!-- /bench -->\nAfter.\n"
    )

    found = rewritten(text, run)

    assert "| request sent → recorded as finished | 8.64 |  | 12.2 |" in found
    assert "old" not in found
    assert "kept" in found
    assert found.startswith("Before.")
    assert found.endswith("After.\n")


def test_what_was_measured_of_the_stack_alone_says_nothing_of_a_worker_by_itself() -> None:
    machine = {"cores": 2, "cpu": "a processor", "memory_gib": 8, "load": 0.1, "python": "3.11"}
    figures = {"shipped.http.rate": 250.0, "idle.memory": 450.0, "seconds.idle": 60.0}
    run = Saved(machine, "2026-11-26", "abc1234", {}, 1.0, figures)
    names = ("machine", "shipped_machine", "latencies", "shipped_goals")
    text = "".join(f"<!-- bench: {name} -->\nold {name}\n<!-- /bench -->\n" for name in names)

    found = rewritten(text, run)

    assert "old machine" in found
    assert "old latencies" in found
    assert "2026-11-26, commit abc1234" in found
    assert "| 16 clients, single starts: executions/s | 250 | >= 250 | met |" in found


def test_the_page_has_a_place_for_every_table() -> None:
    assert set(re.findall(r"<!-- bench: (\w+) -->", PAGE.read_text())) == set(TABLES)


def test_everything_is_measured_unless_somebody_chooses() -> None:
    assert parse([]).only == EVERYTHING
    assert parse(["--quick"]).only == WORKLOADS
    assert parse(["--only", "W1p,idle"]).only == ("W1p", "idle")
    assert parse(["--only", "shipped"]).only == (*SHIPPED, "idle")
    assert not set(SHIPPED) & set(EVERYTHING)
    assert parse(["--labels"]).lists == LABEL_LISTS
    assert parse(["--labels", "--lists", "groups,admin"]).lists == ("groups", "admin")


@pytest.mark.parametrize(
    "mistake", [["--only", "W9"], ["--scale", "2"], ["--csv", "--data"], ["--lists", "runs"]]
)
def test_a_choice_that_makes_no_sense_is_refused(
    mistake: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        parse(mistake)
    assert refused.value.code == 2
    assert mistake[0] in capsys.readouterr().err


def test_every_list_of_labels_can_be_chosen() -> None:
    assert set(label_lists.LISTS) == set(LABEL_LISTS)
