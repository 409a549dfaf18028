"""One run: parts that fail, take too long or are interrupted, and the stored figures of the
others.
"""

import os
import time
from pathlib import Path

import pytest
import redis

from tests.benchmarks import databases, page, summary
from tests.benchmarks.cast import Cast, Server
from tests.benchmarks.figures import Figures
from tests.benchmarks.options import EVERYTHING, Options
from tests.benchmarks.plan import PARTS
from tests.benchmarks.run import Run
from tests.benchmarks.saved import this_run

MACHINE = {"cpu": "a processor", "cores": 2, "memory_gib": 8, "load": 0.1, "python": "3.11"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    spare = databases.redis_database(os.environ["REDIS_URL"], 15)
    for name in ("REDIS_URL", "BENCH_PLAIN_REDIS_URL"):
        monkeypatch.setenv(name, spare)
    stage = Cast(tmp_path, Server(0), Server(0))
    return Run(stage, Options(only=("W3", "W4", "W5"), pairs=1, scale=1.0))  # type: ignore[arg-type]


def broken() -> Figures:
    raise RuntimeError("no worker")


def interrupted() -> Figures:
    raise KeyboardInterrupt


def test_a_part_that_fails_is_named_and_the_next_one_measured(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run.take("W3", broken)
    run.take("W4", lambda: {"W4.peak": 256.0})
    run.take("W5", lambda: {"W5.ratio": 0.6})

    assert run.missing == ["W3"]
    assert (run.figures["W4.peak"], run.figures["W5.ratio"]) == (256.0, 0.6)
    said = capsys.readouterr().out
    assert "W3: one request at a time over HTTP" in said
    assert "W3 FAILED: RuntimeError: no worker" in said


def test_what_was_not_asked_for_is_not_measured(run: Run) -> None:
    run.take("idle", broken)
    assert "idle" not in run.missing


def test_an_interrupted_run_keeps_what_it_has_and_names_the_rest(run: Run) -> None:
    run.take("W3", lambda: {"W3.lease.p95": 5.0})
    with pytest.raises(KeyboardInterrupt):
        run.take("W4", interrupted)

    assert run.missing == ["W4", "W5"]
    found = page.rewritten(
        "<!-- bench: machine -->\n**Not in this run**: by hand.\n<!-- /bench -->",
        this_run(MACHINE, 1.0, run.figures, "18.0", run.missing),
    )
    assert "**Not measured in this run**: W4, W5." in found
    assert "by hand" not in found


def test_a_part_is_given_up_once_its_patience_has_ended(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    def slow() -> Figures:
        run.stage.check()  # has patience yet
        run.stage.until = time.monotonic()
        run.stage.check()
        return {}

    run.take("W4", slow)

    assert run.missing == ["W3", "W4", "W5"]
    assert "W4 FAILED: TimeoutError: given up" in capsys.readouterr().out


def test_no_part_finds_messages_that_another_left_but_the_publishers_bindings(run: Run) -> None:
    def leaves() -> Figures:
        with redis.Redis.from_url(os.environ["REDIS_URL"]) as store:
            store.rpush("default", "a message")
            store.sadd("valkyr:_kombu.binding.default", "default")
        return {}

    run.take("W5", leaves)

    with redis.Redis.from_url(os.environ["REDIS_URL"]) as store:
        assert store.keys() == [b"valkyr:_kombu.binding.default"]
        store.flushdb()


def test_how_long_each_part_took_is_told_in_their_order(run: Run) -> None:
    for name in ("W5", "W3"):
        run.take(name, dict)
    assert list(summary.seconds(run.figures | {"seconds": 60.0})) == ["W3", "W5", "all"]


def test_a_whole_run_is_over_in_twenty_minutes() -> None:
    assert sum(PARTS[name].usual for name in EVERYTHING) < 20 * 60
