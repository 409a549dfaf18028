"""A holder counts as ended only if its process has certainly ended: same boot, same namespace,
another start.
"""

import os
import subprocess
import sys

import pytest

from runners.process.identity import gone, process_identity, started

SLEEPER = [sys.executable, "-c", "import sys; sys.stdin.read()"]


@pytest.fixture
def process():
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as started_process:
        yield started_process
        started_process.kill()


def named(process_id, **other):
    """Return a lease holder's name: this process's identity, with the given changes."""
    _, _, _, namespace, boot, *_ = process_identity().split("|")
    parts = {"name": "somebody", "pid": process_id, "start": started(process_id)}
    parts |= {"namespace": namespace, "boot": boot}
    return "|".join(str(part) for part in (parts | other).values())


def test_this_process_is_not_gone():
    assert process_identity().split("|")[1] == str(os.getpid())
    assert not gone(process_identity())


def test_a_living_process_is_not_gone(process):
    assert not gone(named(process.pid))


def test_a_killed_process_is_gone_before_its_parent_has_noticed(process):
    was = named(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # a zombie from here on
    assert gone(was)


def test_a_killed_process_is_gone(process):
    was = named(process.pid)
    process.kill()
    process.wait()
    assert gone(was)


def test_another_process_with_the_same_id_is_another_life(process):
    assert gone(named(process.pid, start=1))


@pytest.mark.parametrize(
    "other",
    [
        {"boot": "another-boot"},
        {"namespace": "4026530000"},
        {"boot": ""},
        {"namespace": ""},
        {"start": ""},
        {"pid": "x"},
    ],
)
def test_nobody_is_declared_gone_on_a_guess(process, other):
    was = named(process.pid, **other)
    process.kill()
    process.wait()
    assert not gone(was)


@pytest.mark.parametrize("text", ["", "somebody", "a|1|2|3", "a|1|2|3|4|5"])
def test_a_holder_of_another_kind_is_never_gone(text):
    assert not gone(text)


def test_a_worker_is_named_as_its_operator_said(monkeypatch):
    from runners.process import identity as module

    module._holder.cache_clear()
    monkeypatch.setenv("RUNNER_ID", "io@box-1")
    assert process_identity().startswith("io@box-1|")
    module._holder.cache_clear()
