"""The step that a parent blames for a killed child, judged by the child's memory and that of
others.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.process import out_of_memory
from runners.process.identity import process_identity, unreaped
from runners.process.out_of_memory import UNKNOWN, ChildDeaths, Shortage, start_of, tell, told

HOLDER = """
import sys
held = b"x" * (int(sys.argv[1]) * 2**20)
print("held", flush=True)
sys.stdin.read()
"""
Holder = Callable[[int], "subprocess.Popen[bytes]"]


@pytest.fixture
def holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holder]:
    """Return a function that starts a child that uses this many MiB more than this process.

    Only this process and its children are visible, because other tests' processes may use more.
    """
    begun: list[subprocess.Popen[bytes]] = []
    seen = tmp_path / "processes"
    seen.mkdir()
    (seen / str(os.getpid())).mkdir()
    (seen / "vmstat").write_text("oom_kill 0\n")
    monkeypatch.setattr(out_of_memory, "PROC", seen)
    own = field(os.getpid(), "VmRSS") // 1024

    def start(more: int) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(own + more)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        begun.append(process)
        (seen / str(process.pid)).mkdir()
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def end(process: "subprocess.Popen[bytes]") -> int:
    """Kill a child and reap it; return its peak memory in KiB.

    Unlike `ru_maxrss`, this does not count the memory of the tests' process, which the child shared
    until it executed another program.
    """
    peak = field(process.pid, "VmHWM")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return peak


def field(pid: int, name: str) -> int:
    """Return a field of the process's status, in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1])  # type: ignore[index]


def test_the_child_that_held_most_is_blamed_and_its_smaller_companion_is_not(
    holder: Holder,
) -> None:
    deaths = ChildDeaths()
    large, small = holder(500), holder(100)
    assert deaths.judge(small.pid, end(small)) == UNKNOWN
    found = deaths.judge(large.pid, end(large))
    assert found.took
    assert "MiB, more than any other process" in found.cause


def test_a_child_that_died_right_after_a_larger_one_is_not_blamed(holder: Holder) -> None:
    deaths = ChildDeaths()
    large, small = holder(500), holder(100)
    peaks = end(large), end(small)
    assert deaths.judge(large.pid, peaks[0]).took
    assert deaths.judge(small.pid, peaks[1]) == UNKNOWN


def test_while_another_child_waits_to_be_reaped_nobody_is_blamed(holder: Holder) -> None:
    deaths = ChildDeaths()
    large, other = holder(500), holder(1)
    other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    assert deaths.judge(large.pid, end(large)) == UNKNOWN


def test_memory_was_short_only_if_the_kernel_has_killed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out_of_memory, "PROC", tmp_path)
    (tmp_path / "vmstat").write_text("pgfault 7\noom_kill 3\n")
    deaths = ChildDeaths()
    assert not deaths.short()
    (tmp_path / "vmstat").write_text("pgfault 8\noom_kill 4\n")
    assert deaths.short()
    assert deaths.short(), "for a moment: several may be killed for one shortage"


def test_the_word_about_an_end_is_of_one_process_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_HEALTH_DIR", str(tmp_path))
    found = Shortage(took=True, cause="it held 7 MiB")
    tell(12, "345", found)
    assert told(12, "345") == found
    assert told(12, "346") is None


def test_a_killed_child_is_unreaped_until_its_parent_has_asked(holder: Holder) -> None:
    child = holder(1)
    _, _, _, namespace, boot, *_ = process_identity().split("|")
    me = str(os.getpid()), start_of(os.getpid())
    name = "|".join(["somebody", str(child.pid), start_of(child.pid), namespace, boot, *me])
    assert not unreaped(name)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert unreaped(name)
    child.wait()
    assert not unreaped(name)
