"""This run compared with the last committed one."""

import pytest

from tests.benchmarks import summary
from tests.benchmarks.comparison import differences
from tests.benchmarks.saved import Saved, load, save

MACHINE = {"cpu": "a processor", "cores": 2, "memory_gib": 8, "load": 0.1, "python": "3.11"}


def saved(**figures: float) -> Saved:
    named = {name.replace("_of_", "."): value for name, value in figures.items()}
    return Saved(MACHINE, "2026-11-22", "abc1234", {"celery": "5.7.0"}, 1.0, named)


def test_a_fifth_more_cpu_a_step_is_marked_as_worse(capsys: pytest.CaptureFixture[str]) -> None:
    summary.compared(saved(W1e_of_cpu_ms=0.60), saved(W1e_of_cpu_ms=0.50))

    said = capsys.readouterr().out
    assert "+20.0%  WORSE" in said
    assert "Machines differ" in said


@pytest.mark.parametrize(
    ("figure", "last", "new", "mark"),
    [
        ("W1e.cpu_ms", 0.50, 0.54, ""),
        ("W1e.cpu_ms", 0.50, 0.40, "better"),
        ("W2p.cpu_ms.database", 0.50, 0.60, "WORSE"),
        ("W1p.ratio", 8.0, 6.4, "WORSE"),
        ("W1p.ratio", 8.0, 9.6, "better"),
    ],
)
def test_what_is_more_than_a_tenth_off_is_marked(
    figure: str, last: float, new: float, mark: str
) -> None:
    [found] = differences({figure: new}, {figure: last})
    assert found.mark == mark


@pytest.mark.parametrize("figure", ["W1e.rate", "W1e.celery.cpu_ms", "W3.lease.p95", "idle.cpu"])
def test_what_says_how_busy_a_machine_was_is_not_compared(figure: str) -> None:
    assert differences({figure: 10.0}, {figure: 1.0}) == []


def test_a_saved_run_is_read_again_and_keeps_what_a_later_one_left_out(tmp_path) -> None:
    path = tmp_path / "benchmarks" / "last.json"
    assert load(path) is None

    save(saved(W1e_of_cpu_ms=0.5, W6_of_rate=5_000), path)
    save(saved(W1e_of_cpu_ms=0.4), path)

    found = load(path)
    assert found is not None
    assert found.figures == {"W1e.cpu_ms": 0.4, "W6.rate": 5_000}
    assert found.machine == MACHINE
