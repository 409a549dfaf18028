"""`make bench` on real parts: what it counts, and that it starts, measures and says so."""

import subprocess
import sys

import pytest

from executions.models import WorkflowExecution
from tests.benchmarks.programs import PROJECT
from tests.benchmarks.sides import check
from tests.support.workflows import publish, start_many, task

QUICK = ("--quick", "--only", "W1p", "--scale", "0.02", "--pairs", "1", "--engine-only")


@pytest.mark.django_db(transaction=True)
def test_a_repetition_counts_only_if_all_its_work_was_done() -> None:
    start_many(publish({"tasks": [task("begin")]}), [{}] * 2)

    with pytest.raises(RuntimeError, match="0 of 2 executions and 0 of 2 runs succeeded"):
        check(WorkflowExecution.objects.all(), 2, 1)


def test_the_benchmark_says_what_it_can_measure() -> None:
    done = _bench("--help")
    assert done.returncode == 0
    assert "backlog" in done.stdout


@pytest.mark.timeout(300)
def test_a_quick_run_measures_on_servers_of_its_own(tmp_path) -> None:
    done = _bench(*QUICK, "--json", str(tmp_path / "figures.json"))

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "W1p: CPU a step" in done.stdout
    assert '"W1p.cpu_ms.database"' in (tmp_path / "figures.json").read_text()


def _bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        (sys.executable, "-m", "tests.benchmarks", *arguments),
        cwd=PROJECT, capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
