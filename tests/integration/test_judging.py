"""A lost holder is judged by the facts about its process and its parent."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.models import Runner
from runners.pipeline.crashes import MOST_DELAY, backoff
from runners.process import identity, last_words
from runners.process.cause_of_death import Death, judge
from runners.process.identity import awaited, ended_itself, process_identity, started
from runners.workers import registration
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db
SLEEPER = [sys.executable, "-c", "import sys; sys.stdin.read()"]
GONE = {"pid": "1", "start": "0"}


@pytest.fixture
def parent() -> Iterator[int]:
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def child_of(parent: int, **other: str) -> str:
    """Return a holder whose process has ended; it ran one step, and had this parent."""
    _, _, _, namespace, boot, *_ = process_identity().split("|")
    parts = {"name": "somebody", **GONE, "namespace": namespace, "boot": boot}
    return "|".join([*(parts | other).values(), str(parent), started(parent) or "0"])


def threads_of(name: str = "somebody") -> str:
    """Return a holder whose process has ended; it executed many steps at once."""
    return "|".join([name, *child_of(os.getpid()).split("|")[1:5]])


def test_a_process_that_ended_while_its_parent_lives_blames_its_one_step(parent: int) -> None:
    death = judge(child_of(parent))
    assert (death.crashed, death.suspect) == (1, True)
    assert death.cause


def test_an_isolated_process_is_awaited_while_its_fork_server_lives(parent: int) -> None:
    assert awaited(f"{child_of(parent)}|isolated")
    assert not awaited(child_of(parent)), "a pool's child is seen by the sweeper"
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as process:
        process.kill()
    assert not awaited(f"{child_of(process.pid)}|isolated")


def test_with_companions_in_the_process_nobody_is_blamed(parent: int) -> None:
    assert judge(child_of(parent), companions=1) == Death(lost=1, suspect=True)
    assert judge(threads_of()) == Death(lost=1, suspect=True)


def test_a_process_that_went_with_its_parent_blames_nobody() -> None:
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as process:
        process.kill()
    assert judge(child_of(process.pid)) == Death(lost=1, suspect=True)


@pytest.mark.parametrize("elsewhere", [{"boot": "another"}, {"namespace": "another"}])
def test_a_process_that_cannot_be_seen_from_here_blames_nobody(
    parent: int, elsewhere: dict[str, str]
) -> None:
    assert judge(child_of(parent, **elsewhere)) == Death(lost=1, suspect=True)


def test_a_process_that_lives_and_was_cut_off_makes_no_suspect() -> None:
    assert judge(process_identity()) == Death(lost=1)


@pytest.mark.parametrize("holder", [child_of, threads_of], ids=["alone", "shared"])
def test_a_process_that_ended_itself_for_its_leases_sake_blames_nobody(
    holder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_HEALTH_DIR", str(tmp_path / "signs"))
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as process:
        start = started(process.pid)
        last_words.leave(process.pid)
        process.kill()
    was = child_of(os.getpid(), pid=str(process.pid), start=start)
    was = was if holder is child_of else "|".join(was.split("|")[:5])
    assert judge(was) == Death(lost=1)
    assert ended_itself(was)
    assert not ended_itself(child_of(os.getpid()))


def test_a_process_takes_back_its_word_once_its_leases_are_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_HEALTH_DIR", str(tmp_path / "signs"))
    word = last_words.OwnWord()
    for _ in range(2):
        word.leave()
        word.wait()
        assert ended_itself(process_identity())
        word.take_back()
        wait_until(lambda: not ended_itself(process_identity()), what="the end of the word")


def test_a_word_that_a_disk_does_not_take_keeps_nobody() -> None:
    begun = time.monotonic()
    last_words.within(last_words.SECONDS, time.sleep, 20)
    assert time.monotonic() - begun < 10


def test_a_worker_that_said_that_it_leaves_counts_for_nothing(parent: int) -> None:
    Runner.objects.create(
        name="somebody", host="h", pid=1, pool="prefork", processes=1, queues=["default"],
        started_at="2026-01-01T00:00:00Z", seen_at="2026-01-01T00:00:00Z",
        leaving_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    assert judge(child_of(parent)) == Death()
    assert judge(threads_of()) == Death()


@pytest.mark.django_db(transaction=True)
def test_a_worker_with_a_long_name_is_known_to_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    identity._holder.cache_clear()
    monkeypatch.setenv("RUNNER_ID", "worker-" * 20)
    registration._write(pool="prefork")
    holder = process_identity()
    identity._holder.cache_clear()
    assert judge(holder) == Death(lost=1)
    registration._announce()
    assert judge(holder) == Death()


def test_a_crash_loop_slows_down() -> None:
    waits = [backoff(crashes) for crashes in range(12)]
    assert waits[:4] == [0, 0, 1, 2]
    assert waits == sorted(waits)
    assert waits[-1] == MOST_DELAY
